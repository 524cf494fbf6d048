import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { createAuthority, issue, issueForNode, startTestNode } from '@porthole/server/testing';
import { createToken } from '@porthole/server/tokens';
import { describe, expect, it } from 'vitest';
import { runCommand } from './testing/program.ts';

/** A node with TLS that wants a token, and the files that a client needs. */
async function startTlsNode() {
  const cwd = tempDir();
  const authority = createAuthority(cwd);
  const { certFile, keyFile } = issueForNode(authority, cwd);
  const client = issue(authority, cwd, 'ann');
  const { token, line } = createToken('ann', []);
  writeFileSync(join(cwd, 'tokens'), `${line}\n`);
  writeFileSync(join(cwd, 'mine'), `${token}\n`);
  const { port } = await startTestNode({
    settings: { tls: { certFile, keyFile }, auth: { tokenFile: join(cwd, 'tokens') } },
    files: { 'a.log': '2026-11-15 05:00:00.000\tINFO\ta.go:1\tready\n' },
  });
  const url = `https://127.0.0.1:${port}`;
  const env = { XDG_CONFIG_HOME: join(cwd, 'config'), TZ: 'UTC' };
  const porthole = async (line: string, more: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await runCommand(line.split(' '), cwd, { ...env, ...more });
    return { code, stdout, stderr };
  };
  return { cwd, url, port, token, client, porthole, file: join(cwd, 'config/porthole/contexts.json') };
}

const READY = { code: 0, stdout: '2026-11-15 05:00:00.000\tINFO\ta.go:1\tready\n', stderr: '' };

describe('a node with TLS', () => {
  it('is reached with --ca-file and a token, the flags before or after the command', async () => {
    const { url, port, porthole } = await startTlsNode();
    const flags = `--url ${url} --ca-file ca.crt --token-file mine`;
    expect(await porthole(`logs a.log ${flags}`)).toEqual(READY);
    expect(await porthole(`${flags} logs a.log`)).toEqual(READY);
    expect(await porthole(`-q --no-color logs --url ${url} --ca-file ca.crt search ready --token-file mine`)).toEqual(
      READY,
    );
    expect(await porthole(`${flags} --cert-file ann.crt --key-file ann.key logs a.log`)).toEqual(READY);
    const refused = async (line: string) => (await porthole(line)).stderr;
    expect(await refused(`logs --url ${url} --token-file mine`)).toMatch(/^porthole: .* with --ca-file\n$/);
    expect(await refused(`logs --url http://127.0.0.1:${port} --token-file mine`)).toBe(
      `porthole: http://127.0.0.1:${port} expects TLS: use ${url}\n`,
    );
    expect(await refused(`logs --url http://127.0.0.1:${port} --ca-file ca.crt`)).toMatch(/--ca-file needs an https/);
    expect(await refused(`logs --url ${url} --ca-file mine`)).toMatch(/^porthole: invalid --ca-file mine: expected/);
    expect(await refused(`logs --url ${url} --ca-file absent`)).toMatch(/^porthole: --ca-file: ENOENT/);
    expect(await refused(`logs --url ${url} --cert-file ann.crt`)).toBe('porthole: --cert-file needs --key-file\n');
    expect(await refused(`logs --url ${url} --cert-file ann.crt --key-file ca.key`)).toMatch(
      /^porthole: --cert-file ann.crt and --key-file ca.key cannot be used: .*mismatch/,
    );
  });

  it('has a name: the context holds its address and files, readable by its owner only', async () => {
    const { cwd, url, token, porthole, file } = await startTlsNode();
    const add = `context add prod ${url} --token-file mine --ca-file ca.crt`;
    expect(await porthole(add)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(cwd, 'config/porthole'))).toEqual(['contexts.json']);
    expect(await porthole('-c prod logs a.log')).toEqual(READY);
    expect(await porthole('logs a.log -c prod')).toEqual(READY);
    expect(await porthole('logs a.log', { PORTHOLE_CONTEXT: 'prod' })).toEqual(READY);
    expect(await porthole(add)).toMatchObject({ code: 2, stderr: expect.stringContaining('already exists') });
    expect(await porthole(`${add} --force`)).toMatchObject({ code: 0 });

    expect(await porthole('context use prod')).toMatchObject({ code: 0 });
    expect(await porthole('nodes -o names')).toMatchObject({ code: 0 });
    const listed = await porthole('context list -o json');
    expect(JSON.parse(listed.stdout)).toEqual({
      name: 'prod',
      isCurrent: true,
      url,
      tokenFile: join(cwd, 'mine'),
      caFile: join(cwd, 'ca.crt'),
    });
    expect((await porthole('context list')).stdout).toBe(`  NAME  URL\n* prod  ${url}\n`);
    expect((await porthole('context show')).stdout).toBe(
      `name        prod (in use)\nurl         ${url}\ntoken-file  ${join(cwd, 'mine')}\nca-file     ${join(cwd, 'ca.crt')}\n`,
    );
    for (const { stdout } of [listed, await porthole('context show prod')]) expect(stdout).not.toContain(token);
    expect(readFileSync(file, 'utf8')).not.toContain(token);

    expect(await porthole('nodes -c prd')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'porthole: no context "prd"; did you mean prod?\n',
    });
    expect(await porthole('context remove prod')).toMatchObject({ code: 0 });
    expect(await porthole('context list -o names')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await porthole('context show')).toMatchObject({ code: 2 });
  });

  it('gets the credentials of its context, another address does not', async () => {
    const { url, porthole } = await startTlsNode();
    const { port } = await startTestNode({ settings: { auth: { tokenFile: '' } } });
    await porthole(`context add prod ${url} --token-file mine --ca-file ca.crt`);
    // With the files of the context this would fail: they need an https address.
    expect(await porthole(`nodes -c prod --url http://127.0.0.1:${port} -o names`)).toMatchObject({ code: 0 });
    expect(await porthole(`logs ls ${url} -c prod -o names`)).toMatchObject({ code: 0, stdout: 'a.log\n' });
  });
});

describe('the file of contexts', () => {
  it.each([
    [0o644, 0, /^porthole: warning: .*contexts\.json can be read by other users\. Run: chmod 600 /],
    [0o620, 2, /^porthole: .*contexts\.json can be changed by other users; not used/],
  ])('with mode %o: exit code %d', async (mode, code, message) => {
    const cwd = tempDir();
    const env = { HOME: cwd };
    expect(await runCommand(['context', 'add', 'a', 'http://127.0.0.1:1'], cwd, env)).toMatchObject({ code: 0 });
    chmodSync(join(cwd, '.config/porthole/contexts.json'), mode);
    const listed = await runCommand(['context', 'list'], cwd, env);
    expect(listed).toMatchObject({ code, stderr: expect.stringMatching(message) });
  });

  it.each([
    ['{', /cannot read the contexts in /],
    ['{"version":2,"contexts":{}}', /version 2 is not supported/],
    ['{"version":1,"contexts":{"a":{}}}', /context "a" has no url/],
  ])('%s is refused', async (text, message) => {
    const cwd = tempDir();
    mkdirSync(join(cwd, 'porthole'));
    writeFileSync(join(cwd, 'porthole/contexts.json'), text, { mode: 0o600 });
    const { code, stderr } = await runCommand(['nodes'], cwd, { XDG_CONFIG_HOME: cwd });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });

  it.each([
    ['context add -x http://127.0.0.1:1', /unknown option|invalid name/],
    ['context add a/b http://127.0.0.1:1', /invalid name "a\/b"/],
    ['context add a ftp://127.0.0.1', /invalid node address/],
    ['context add a http://ann:secret@127.0.0.1', /contains credentials/],
    ['context add a http://127.0.0.1:1 --token-file absent', /--token-file: ENOENT/],
  ])('%s is refused', async (line, message) => {
    const cwd = tempDir();
    const { code, stderr } = await runCommand(line.split(' '), cwd, { HOME: cwd });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
    expect(stderr).not.toContain('secret@');
  });
});
