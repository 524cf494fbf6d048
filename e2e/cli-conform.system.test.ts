import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { renderView } from '@porthole/cluster/testing';
import { tempDir } from '@porthole/records/testing';
import { startTestNode } from '@porthole/server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ensurePrograms } from '../scripts/programs.mjs';
import { runCommand } from './testing/program.ts';

interface Report {
  ok: boolean;
  cases: { group: string; id: string; state: string; measured?: string; detail?: string }[];
  profiles: { profile: string; compared: number; equal: number }[];
}

async function conform(args: readonly string[], env: Record<string, string> = {}): Promise<Report & { code: number }> {
  const { code, stdout, stderr } = await runCommand(['conform', ...args, '-o', 'json'], tempDir(), env);
  expect(stderr).toBe('');
  return { code: code ?? -1, ...(JSON.parse(stdout) as Report) };
}

function failuresOf({ cases }: Report): string[] {
  return cases.flatMap(({ id, state, detail }) => (state === 'failed' ? [`${id}: ${detail}`] : []));
}

/** LinDB's ways on a directory; ends with the test. */
async function startLindb(dir: string): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://node');
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value));
    const node = { hostIp: '10.8.0.21', hostName: 'root-0', version: '0.4.1', onlineTime: 1, httpPort: 3000 };
    const file = searchParams.get('file') ?? '';
    const size = searchParams.get('size') ?? '1048576';
    if (request.method !== 'GET') response.writeHead(404).end('404 page not found');
    else if (pathname === '/api/v1/config') json(200, { node, config: 'a = 1\n' });
    else if (pathname === '/api/v1/log/list') {
      const names = readdirSync(dir).filter((name) => name.endsWith('.log') && lstatSync(join(dir, name)).isFile());
      const list = names.sort().map((name) => ({ name, size: statSync(join(dir, name)).size }));
      json(200, list.length > 0 ? list : null);
    } else
      try {
        if (file === '' || file.includes('/') || !/^-?\d*$/.test(size)) throw new Error('bad request');
        const body = renderView(readFileSync(join(dir, file)), Math.max(0, Number(size)));
        response.writeHead(200);
        response.write(body);
        response.end();
      } catch (error) {
        json(500, String(error));
      }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The example in Go, built and running; ends with the test. */
async function startGoNode(logDir: string): Promise<string> {
  const go = ensurePrograms(['go']).get('go') ?? '';
  const dir = tempDir();
  const source = join(import.meta.dirname, '../examples/go-node/main.go');
  const env = { PATH: process.env.PATH, GOCACHE: join(dir, 'cache'), GOPATH: dir, GOTOOLCHAIN: 'local' };
  execFileSync(go, ['vet', source], { env });
  execFileSync(go, ['build', '-o', join(dir, 'node'), source], { env });
  writeFileSync(join(dir, 'config.toml'), 'a = 1\n');
  const args = ['-listen', '127.0.0.1:0', '-log-dir', logDir, '-config', join(dir, 'config.toml')];
  const child = spawn(join(dir, 'node'), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill();
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return /http:\S+/.exec(line.toString())?.[0] ?? '';
}

describe('porthole conform', () => {
  it('passes our own node in everything, also as it is by default', async () => {
    const { port, logDir } = await startTestNode({ files: {} });
    const url = `http://127.0.0.1:${port}`;
    const report = await conform([url, '--log-dir', logDir, '--profile', 'porthole']);
    expect(failuresOf(report)).toEqual([]);
    expect(report.cases.filter(({ state }) => state === 'skipped')).toEqual([]);
    expect({ code: report.code, ok: report.ok }).toEqual({ code: 0, ok: true });
    expect(report.profiles.find(({ profile }) => profile === 'porthole')).toMatchObject({ compared: 22, equal: 22 });
    expect(readdirSync(logDir)).toEqual([]);
    const other = await conform([url, '--profile', 'lindb-0.4']);
    expect(other.code).toBe(1);
    expect(failuresOf(other)).toContain('empty-directory: lindb-0.4: null');
  });

  it('passes a node with the ways of LinDB, in its profile', async () => {
    const dir = tempDir();
    const report = await conform([await startLindb(dir), '--log-dir', dir, '--profile', 'lindb-0.4']);
    expect(failuresOf(report)).toEqual([]);
    expect(report.profiles.find(({ profile }) => profile === 'lindb-0.4')).toMatchObject({ compared: 18, equal: 18 });
    expect(report.code).toBe(0);
  });

  it('passes the example in Go', async () => {
    const dir = tempDir();
    const report = await conform([await startGoNode(dir), '--log-dir', dir]);
    expect(failuresOf(report)).toEqual([]);
    expect(report.cases.filter(({ state }) => state === 'skipped')).toEqual([]);
  });

  it('prints TAP, and fails with 1', async () => {
    const { port } = await startTestNode({ files: { 'a.log': 'one\ntwo\nthree\n' } });
    const args = ['conform', `http://127.0.0.1:${port}`, '--profile', 'lindb-0.4'];
    const { code, stdout } = await runCommand(args, tempDir());
    expect(code).toBe(1);
    expect(stdout).toMatch(/^TAP version 14\nok 1 - core\/config-response: .*\n/);
    expect(stdout).toMatch(/^ok \d+ - robust\/growth: .* # SKIP needs --log-dir$/m);
    expect(stdout).toMatch(
      /^not ok \d+ - open\/unknown-file: status for an unknown file: 404\n {2}---\n {2}expected: "lindb-0.4: 500"\n {2}\.\.\.$/m,
    );
    const numbers = [...stdout.matchAll(/^(?:not )?ok (\d+) - /gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(stdout).toMatch(
      new RegExp(`\\n1\\.\\.${numbers.length}\\n# core: 12 of 12 ok; robust: 0 of 0 ok; open points: .*\\n$`),
    );
  });

  it('needs a node that responds, credentials where they are needed, and its real log directory', async () => {
    const run = (...args: string[]) => runCommand(['conform', ...args], tempDir());
    expect(await run('http://127.0.0.1:9')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot reach http://127.0.0.1:9: connect ECONNREFUSED'),
    });
    const { port, dir } = await startTestNode({ files: {} });
    mkdirSync(join(dir, 'elsewhere'));
    expect(await run(`127.0.0.1:${port}`, '--log-dir', join(dir, 'elsewhere'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('does not seem to be the log directory of the node'),
    });
    expect(readdirSync(join(dir, 'elsewhere'))).toEqual([]);
    expect(await run(`127.0.0.1:${port}`, '--log-dir', join(dir, 'none'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ENOENT'),
    });
    const token = execFileSync(
      process.execPath,
      [join(import.meta.dirname, '../packages/cli/bin/porthole.cjs'), 'token', 'a'],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const tokenFile = join(dir, 'tokens');
    writeFileSync(tokenFile, token);
    const closed = await startTestNode({ settings: { auth: { tokenFile } } });
    expect(await run(`127.0.0.1:${closed.port}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('refuses the request (401): pass a token with --token-file FILE'),
    });
  });
});

describe('a node that does not come to an end', () => {
  /** Answers these routes only by a blank every now and then. */
  async function startSlow(...slow: string[]): Promise<string> {
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://node');
      if (slow.some((route) => pathname.endsWith(route))) {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      } else response.end(JSON.stringify(pathname.endsWith('/list') ? [] : { node: {}, config: '' }));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const run = (url: string) => runCommand(['conform', url, '--check-timeout', '300ms'], tempDir(), {});

  it('has failed the checks that waited for it, which are printed', async () => {
    const { code, stdout } = await run(await startSlow('/view'));
    expect(code).toBe(1);
    expect(stdout).toContain('it did not end in time');
    expect(stdout).toMatch(/^1\.\.\d+$/m);
  });

  it('has not been tested if it does not answer at all', async () => {
    const { code, stderr } = await run(await startSlow('/config', '/list'));
    expect(code).toBe(2);
    expect(stderr).toContain('does not answer within 0.3 s');
  });
});
