import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { runToEnd, serve } from './testing/program.ts';
import { runOnTerminal } from './testing/pseudo-terminal.ts';

const FREE_PORTS = ['--http-port', '0', '--grpc-port', '0'];

interface DoctorReport {
  healthy: boolean;
  findings: { name: string; state: string; detail: string; remedy?: string }[];
  skipped: string[];
}

describe('porthole doctor', () => {
  it('finds no problem with default settings, says so last, and leaves nothing behind', async () => {
    const cwd = tempDir();
    const { code, stdout, stderr } = await runToEnd(['doctor', ...FREE_PORTS], cwd);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^(?:ok {5}|warning) {2}Node\.js: /);
    expect(stdout).toContain(`ok       own log: ${cwd}/data/log can be created\n`);
    expect(stdout).toMatch(/\n\n0 problems, \d+ warnings?, \d+ ok\n$/);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('reports problems with the way out and exit code 1', async () => {
    const cwd = tempDir();
    writeFileSync(join(cwd, 'file'), '');
    const { code, stdout } = await runToEnd(['doctor', ...FREE_PORTS, '--log-dir', 'file'], cwd);
    expect(code).toBe(1);
    expect(stdout).toContain(
      `problem  log directory: ${cwd}/file is not a directory\n` +
        '           fix: set service.log-dir (--log-dir DIR) to the directory that holds the logs\n',
    );
    expect(stdout).toMatch(/\n1 problem, \d+ warnings?, \d+ ok\n$/);
  });

  it('reports invalid settings as serve does, and the checks it skipped', async () => {
    const cwd = tempDir();
    writeFileSync(join(cwd, 'porthole.toml'), '[http]\nprot = 80\n');
    const { stderr } = await runToEnd(['serve', '--config', 'porthole.toml'], cwd);
    const { code, stdout } = await runToEnd(['doctor', '--config', 'porthole.toml'], cwd);
    expect(code).toBe(1);
    expect(stdout).toContain(`problem  settings: ${stderr.replace('porthole: ', '').trimEnd()}\n`);
    expect(stdout).toContain('skipped until the settings are valid: log directory, ');
  });

  it('as JSON prints everything, from flags, environment and file', async () => {
    const cwd = tempDir();
    mkdirSync(join(cwd, 'logs'));
    writeFileSync(join(cwd, 'logs/a.log'), '2026-11-15 05:00:00.000\tINFO\ta.go:1\thello\n');
    writeFileSync(join(cwd, 'porthole.toml'), '[service]\nlog-dir = "logs"\n');
    const env = { PORTHOLE_CONFIG: 'porthole.toml', PORTHOLE_NODE_TIME_ZONE: 'Asia/Tokyo' };
    const { code, stdout } = await runToEnd(['doctor', '-o', 'json', ...FREE_PORTS], cwd, env);
    const report = JSON.parse(stdout) as DoctorReport;
    expect({ code, healthy: report.healthy, skipped: report.skipped }).toEqual({ code: 0, healthy: true, skipped: [] });
    const detail = (name: string) => report.findings.find((finding) => finding.name === name)?.detail;
    expect(detail('log directory')).toBe(`${cwd}/logs is readable`);
    expect(detail('log files')).toMatch(/^1 log in 1 file, the newest record is .* old$/);
    expect(detail('time zone')).toBe(
      'log timestamps without a zone are read as Asia/Tokyo, now UTC+09:00 (node.time-zone)',
    );
  });

  it('recognises a node that runs already', async () => {
    const cwd = tempDir();
    const port = new URL(await serve(cwd).ready()).port;
    const { code, stdout } = await runToEnd(['doctor', '--http-port', port, '--grpc-port', '0'], cwd);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^warning  ports: http\\.port ${port} is in use by a running Porthole node`, 'm'),
    );
  });

  it('paints its signs on a terminal, and only there', async () => {
    const cwd = tempDir();
    const args = ['doctor', ...FREE_PORTS];
    expect((await runOnTerminal(args, { cwd })).output).toContain('\u001b[32mok     \u001b[39m  ');
    const plain = (await runOnTerminal(args, { cwd, env: { NO_COLOR: '1' } })).output;
    expect(plain).toContain('ok       settings: ');
    expect(plain).not.toContain('\u001b');
    expect((await runToEnd([...args, '--color', 'always'], cwd)).stdout).toContain('\u001b[32mok     \u001b[39m  ');
  });
});
