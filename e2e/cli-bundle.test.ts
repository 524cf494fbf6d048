import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { scaled } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { freePorts, readBundle, startTestNode } from '@porthole/server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startLindbNode } from './testing/lindb-node.ts';
import { writeBrokerLog } from './testing/log-fixture.ts';
import { BINARY, runCommand } from './testing/program.ts';

const ENV = { TZ: 'UTC' };
const RANGE = ['--since', '2026-11-15 05:00', '--until', '2026-11-15 06:00'];
const NAME = /^porthole-bundle-porthole-\d{8}T\d{6}Z\.zip\n$/;

/** As in production, but on a busy machine longer. */
const PATIENT = { memberTimeoutMs: scaled(5000), firstBatchTimeoutMs: scaled(2000) };

/** A node with the broker's log, and a fresh directory to work in. */
async function startNode({ members = [], tokenFile = '' }: { members?: string[]; tokenFile?: string } = {}) {
  const { port, logDir } = await startTestNode({
    settings: {
      node: { timeZone: 'UTC' },
      cluster: { nodeId: 'n1', members, ...PATIENT },
      ...(tokenFile !== '' && { auth: { tokenFile } }),
    },
  });
  writeBrokerLog(logDir);
  const url = `http://127.0.0.1:${port}`;
  const cwd = tempDir();
  const bundle = (...args: string[]) => runCommand(['bundle', ...args, '--url', url], cwd, ENV);
  return { cwd, url, bundle };
}

/** A server that answers as a node would, up to its bundle. */
async function startWithBundle(body: Buffer, { isCut = false } = {}): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/api/v1/node')) {
      const node = { hostIp: '', hostName: 'n', grpcPort: 1, httpPort: 1, version: '1', onlineTime: 0 };
      const clock = { clockMs: Date.now(), timeZone: 'UTC', utcOffsetMinutes: 0 };
      response.setHeader('content-type', 'application/json');
      return response.end(
        JSON.stringify({ node, observes: 'self', ...clock, uptimeMs: 1, versions: {}, capabilities: [] }),
      );
    }
    response.setHeader('content-type', 'application/zip');
    if (!isCut) return response.end(body);
    return response.write(body.subarray(0, body.length / 2), () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('porthole bundle', () => {
  it('writes a bundle named after its cluster and time, readable only by its owner, and prints its name', async () => {
    const { cwd, bundle } = await startNode();
    const { code, stdout, stderr } = await bundle(...RANGE);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^porthole: \d+ files, .* uncompressed, from 1 node; all hashes match\n$/),
    });
    expect(stdout).toMatch(NAME);
    expect(readdirSync(cwd)).toEqual([stdout.trim()]);
    const path = join(cwd, stdout.trim());
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { manifest, text } = readBundle(readFileSync(path));
    expect(manifest).toMatchObject({
      isComplete: true,
      range: { fromMs: Date.parse('2026-11-15T05:00:00Z'), toMs: Date.parse('2026-11-15T06:00:00Z') },
    });
    expect(text('logs/merged.log')).toContain('[n1] [broker.log]');
    // What others unpack it with agrees.
    if (existsSync('/usr/bin/unzip')) execFileSync('/usr/bin/unzip', ['-tq', path]);
  });

  it('-o names it, - is stdout, and what exists is left alone', async () => {
    const { cwd, url, bundle } = await startNode();
    expect(await bundle('-o', 'mine.zip')).toMatchObject({ code: 0, stdout: 'mine.zip\n' });
    const before = readFileSync(join(cwd, 'mine.zip'));
    const again = await bundle('-o', 'mine.zip');
    expect(again).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('mine.zip already exists') });
    expect(readFileSync(join(cwd, 'mine.zip')).equals(before)).toBe(true);
    const words = [BINARY, 'bundle', '-o', '-', '--url', url];
    const { stdout: piped } = await promisify(execFile)(process.execPath, words, { cwd, encoding: 'buffer' });
    expect(readBundle(piped).manifest.isComplete).toBe(true);
    expect(readdirSync(cwd)).toEqual(['mine.zip']);
  });

  it('reports what is missing, with exit code 3', async () => {
    const [port] = await freePorts(1);
    const { cwd, bundle } = await startNode({ members: [`dead=http://127.0.0.1:${port}`] });
    const { code, stdout, stderr } = await bundle(...RANGE, '-o', 'part.zip');
    expect({ code, stdout }).toEqual({ code: 3, stdout: 'part.zip\n' });
    expect(stderr).toContain('porthole: warning: config/dead.toml is missing: refused');
    const verified = await runCommand(['bundle', 'verify', 'part.zip'], cwd, ENV);
    expect(verified).toMatchObject({ code: 3, stdout: '', stderr });
    expect(await bundle(...RANGE, 'n1', '-o', 'whole.zip')).toMatchObject({ code: 0, stdout: 'whole.zip\n' });
  });

  it('has of a member that only answers the contract its configuration and the ends of its logs', async () => {
    const secret = 'correct-horse-battery-staple';
    const lindb = await startLindbNode({ 'lind.log': 'first\nsecond\n' }, `[user]\npassword = "${secret}"\n`);
    const { cwd, bundle } = await startNode({ members: [`lindb=${lindb}`] });
    expect(await bundle('-o', 'a.zip')).toMatchObject({ code: 3 });
    const { manifest, text, files } = readBundle(readFileSync(join(cwd, 'a.zip')));
    expect(text('logs/lindb/lind.log')).toBe('second\n');
    expect(text('config/lindb.toml')).toContain('password = ');
    for (const { content } of files) expect(content.includes(secret)).toBe(false);
    expect(manifest.missing.map(({ name }) => name)).toEqual(['config/lindb.settings.json']);
  });

  it.each([
    [['--since', 'soon'], 'invalid --since "soon": expected RFC 3339'],
    [['--since', '1h', '--until', '2h'], 'must be before --until ('],
    [['absent'], 'no member of the cluster is named "absent"'],
    [['--role', 'a b'], 'invalid "role" "a b"'],
  ])('refuses %j', async (args, message) => {
    const { cwd, bundle } = await startNode();
    const { code, stdout, stderr } = await bundle(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('needs a token with the admin role if the node requires authentication', async () => {
    const home = tempDir();
    const tokens = join(home, 'tokens');
    const owners = await Promise.all(
      ['admin', 'viewer,config'].map((roles) => runCommand(['token', 'ann', '--roles', roles], home)),
    );
    writeFileSync(tokens, owners.map(({ stdout }) => stdout).join(''));
    const { cwd, url } = await startNode({ tokenFile: tokens });
    const codes = [];
    for (const { stderr } of owners) {
      const token = stderr.trim().split(' ').at(-1) ?? '';
      const env = { ...ENV, PORTHOLE_TOKEN: token };
      codes.push((await runCommand(['bundle', '--url', url], cwd, env)).code);
    }
    expect(codes).toEqual([0, 2]);
    expect(readdirSync(cwd)).toHaveLength(1);
  });

  it('leaves no file of a bundle that is truncated, damaged or not a bundle', async () => {
    const { cwd, bundle } = await startNode();
    await bundle('-o', 'good.zip');
    const good = readFileSync(join(cwd, 'good.zip'));
    const damaged = Buffer.from(good);
    damaged.fill(0x55, 200, 240);
    const servers: [string, string][] = [
      [await startWithBundle(good, { isCut: true }), 'the connection was lost'],
      [await startWithBundle(damaged), 'the bundle is damaged'],
      [await startWithBundle(Buffer.from('hello')), 'not a ZIP archive'],
    ];
    for (const [url, message] of servers) {
      const { code, stdout, stderr } = await runCommand(['bundle', '-o', 'bad.zip', '--url', url], cwd, ENV);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(message);
    }
    expect(readdirSync(cwd)).toEqual(['good.zip']);
  });
});

describe('porthole bundle verify', () => {
  it('reports whether a bundle is intact, or what is wrong with it', async () => {
    const { cwd, bundle } = await startNode();
    await bundle('-o', 'a.zip');
    const verify = (file: string) => runCommand(['bundle', 'verify', file], cwd, ENV);
    expect(await verify('a.zip')).toMatchObject({ code: 0, stdout: '' });
    truncateSync(join(cwd, 'a.zip'), 1000);
    expect(await verify('a.zip')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not a ZIP archive, or truncated'),
    });
    expect(await verify('absent.zip')).toMatchObject({ code: 2, stderr: expect.stringContaining('absent.zip') });
  });
});
