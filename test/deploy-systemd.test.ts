import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ensurePrograms } from '../scripts/programs.mjs';
import { loadDeployedSettings, readDeployed } from './testing/deployed-settings.ts';

const unit = readDeployed('systemd/porthole.service');
const dropIn = readDeployed('systemd/expose.conf');

/** All values of a directive. */
function directiveValues(text: string, directive: string): string[] {
  return [...text.matchAll(new RegExp(`^${directive}=(.*)$`, 'gm'))].map(([, value = '']) => value);
}

/** Units that ours depends on. Those of this machine would bring others along, with warnings about them. */
const TARGETS = ['sysinit.target', 'basic.target', 'shutdown.target', 'network-online.target', 'multi-user.target'];

/** What systemd says about a unit as it would be installed, with a program that is there. */
function analyze(text: string, ...verb: string[]): { status: number | null; said: string } {
  const folder = mkdtempSync(join(tmpdir(), 'porthole-unit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'porthole.service.d'));
  writeFileSync(join(folder, 'porthole.service'), text.replace('ExecStart=porthole', `ExecStart=${process.execPath}`));
  writeFileSync(join(folder, 'porthole.service.d/expose.conf'), dropIn);
  for (const target of TARGETS) writeFileSync(join(folder, target), '[Unit]\nDefaultDependencies=no\n');
  const program = ensurePrograms(['systemd-analyze']).get('systemd-analyze') ?? '';
  const args = [...verb, '--no-pager', join(folder, 'porthole.service')];
  const env = { ...process.env, SYSTEMD_UNIT_PATH: folder };
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env });
  return { status, said: `${stdout}${stderr}` };
}

describe('deploy/systemd', () => {
  it('is understood by systemd to the last directive', () => {
    expect(analyze(unit, 'verify')).toEqual({ status: 0, said: '' });
    expect(analyze(unit.replace('ProtectClock', 'ProtectClocks'), 'verify').said).toContain('ProtectClocks');
  });

  it('leaves little to whoever breaks out of the program, by the measure of systemd itself', () => {
    const strict = ['security', '--offline=true', '--threshold=20'];
    const { status, said } = analyze(unit, ...strict);
    expect(status, said).toBe(0);
    expect(analyze(unit.replace(/^CapabilityBoundingSet=$/m, ''), ...strict).status).not.toBe(0);
  });

  it('starts the program with flags and settings that exist, on the loopback address', async () => {
    const [program, command, ...words] = (directiveValues(unit, 'ExecStart')[0] ?? '').split(' ');
    // systemd looks for it in /usr/local/bin and /usr/bin.
    expect([program, command]).toEqual(['porthole', 'serve']);
    const { settings, warnings } = await loadDeployedSettings(words, {});
    expect(warnings).toEqual([]);
    expect(settings.http.host).toBe('127.0.0.1');
    expect(settings.service.logDir).toBe('/var/log/lindb');
  });

  it('lets it write only to its state directory, which is where it writes', async () => {
    const [, , ...words] = (directiveValues(unit, 'ExecStart')[0] ?? '').split(' ');
    const { settings } = await loadDeployedSettings(words, {});
    const [state] = directiveValues(unit, 'StateDirectory').map((name) => `/var/lib/${name}`);
    expect(directiveValues(unit, 'WorkingDirectory')).toEqual([state]);
    expect(settings.logging.dir).toBe(`${state}/log`);
    // The files that make its user and its directories agree with the unit.
    const [user] = directiveValues(unit, 'User');
    expect(readDeployed('systemd/porthole.sysusers')).toMatch(new RegExp(`^u ${user} - "\\w+" ${state}$`, 'm'));
    const made = readDeployed('systemd/porthole.tmpfiles').match(/^d .*$/gm);
    const mode = directiveValues(unit, 'StateDirectoryMode')[0];
    expect(made).toEqual([state, settings.logging.dir].map((path) => `d ${path} ${mode} ${user} ${user} -`));
    // Recordings are beside the directory of the own log unless set.
    expect(settings.cluster.recordDir === '' || settings.cluster.recordDir.startsWith(`${state}/`)).toBe(true);
    expect(directiveValues(unit, 'ReadWritePaths')).toEqual([]);
    expect(directiveValues(unit, 'ProtectSystem')).toEqual(['strict']);
  });

  it('waits longer for its end than the node waits for its answers', async () => {
    const { settings } = await loadDeployedSettings([], {});
    expect(Number(directiveValues(unit, 'TimeoutStopSec')[0]) * 1000).toBeGreaterThan(settings.node.stopTimeoutMs);
  });

  it('serves other machines only with tokens and encryption', async () => {
    const credentials = directiveValues(dropIn, 'LoadCredential').map((value) => value.split(':')[0]);
    const env: Record<string, string> = Object.fromEntries(
      directiveValues(dropIn, 'Environment').map((value) => value.split('=')),
    );
    const files = Object.values(env).filter((value) => value.startsWith('%d/'));
    expect(files.map((value) => value.slice('%d/'.length))).toEqual(credentials);
    const { settings } = await loadDeployedSettings([], env);
    expect(settings.http.host).toBe('0.0.0.0');
    expect(settings.auth.tokenFile).toMatch(/tokens$/);
    expect(settings.tls.certFile).toMatch(/cert\.pem$/);
  });
});
