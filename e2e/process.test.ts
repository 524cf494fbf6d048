import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { startLindbNode } from './testing/lindb-node.ts';
import { Program, serve } from './testing/program.ts';

interface ConfigResponse {
  config: string;
  node: { httpPort: number; grpcPort: number; onlineTime: number };
}

async function configAt(url: string): Promise<ConfigResponse> {
  return (await (await fetch(`${url}api/v1/config`)).json()) as ConfigResponse;
}

/** The head of an answer that is then not read. */
function openResponse(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.on('error', () => {}); // it is cut, that is the point
      resolve(response);
    }).once('error', reject);
  });
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function bigLogDir(cwd: string): string {
  mkdirSync(join(cwd, 'logs'));
  writeFileSync(join(cwd, 'logs', 'big.log'), Buffer.alloc(64 * 1024 * 1024, 'a line of a log file\n'));
  return 'logs';
}

describe('a node started from the command line', () => {
  it('shows itself: configuration, the log it writes, and ports that are true', async () => {
    const program = serve(tempDir());
    const url = await program.ready();
    const { config, node } = await configAt(url);
    expect(config).toContain('[http]');
    expect(url).toBe(`http://127.0.0.1:${node.httpPort}/`);
    expect(await canConnect(node.grpcPort)).toBe(true);
    const list = (await (await fetch(`${url}api/v1/log/list`)).json()) as { name: string }[];
    expect(list.map(({ name }) => name)).toEqual(['porthole.log']);
    const text = await (await fetch(`${url}api/v1/log/view?file=porthole.log`)).text();
    expect(text).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\tINFO\t[^\t]+:\d+\t\[node\] \[start\]: /);
    expect((await fetch(url)).headers.get('content-type')).toContain('text/html');
  });

  it('that crashes notes where in its own log, without the message, which goes to stderr', async () => {
    const cwd = tempDir();
    const crash = join(cwd, 'crash.mjs');
    writeFileSync(
      crash,
      `process.on('SIGUSR2', () => { throw Object.assign(new TypeError('pw is hunter2-x'), { code: 'EBUG' }); });`,
    );
    const program = new Program(['serve', '--http-port', '0', '--grpc-port', '0'], {
      cwd,
      env: { NODE_OPTIONS: `--import=${crash}` },
    });
    await program.ready();
    program.kill('SIGUSR2');
    expect((await program.end()).code).toBe(2);
    expect(program.stderr).toContain('hunter2-x');
    expect(program.stderr).toMatch(/\nporthole: the node has ended: the error above was not expected\n$/);
    const log = readFileSync(join(cwd, 'data/log/porthole.log'), 'utf8');
    expect(log).toContain('an unexpected error ends the process');
    expect(log).toMatch(/"name":"TypeError","code":"EBUG".*"stack":\["at /);
    expect(log).not.toContain('hunter2');
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'stops in order at %s, having said nothing but that it was ready',
    async (signal) => {
      const cwd = tempDir();
      const program = serve(cwd);
      const url = await program.ready();
      await configAt(url);
      program.kill(signal);
      expect(await program.end()).toEqual({
        code: 0,
        signal: null,
        stdout: `porthole is ready at ${url}\n`,
        stderr: '',
      });
      expect(readFileSync(join(cwd, 'data/log/porthole.log'), 'utf8')).toMatch(/the node has stopped[^\n]*\n$/);
    },
  );

  it('lets a reader finish at the first signal and ends at once at the second', async () => {
    const cwd = tempDir();
    const program = serve(cwd, '--log-dir', bigLogDir(cwd), '--node-stop-timeout', '1h');
    const url = await program.ready();
    const held = await openResponse(`${url}api/v1/log/raw?file=big.log`);
    program.kill('SIGTERM');
    const { port } = new URL(url);
    while (await canConnect(Number(port))); // it has stopped accepting: the first signal has arrived
    program.kill('SIGINT');
    expect(await program.end()).toMatchObject({ code: 130, signal: null });
    held.destroy();
    expect(readFileSync(join(cwd, 'data/log/porthole.log'), 'utf8')).toContain('the node is stopping');
  });

  it('warns on stderr of a log directory that is not there yet', async () => {
    const program = serve(tempDir(), '--log-dir', 'later');
    await program.ready();
    expect(program.stderr).toMatch(/^porthole: service\.log-dir: .*later does not exist/);
  });

  it('writes what clients send as one record, whatever is in it', async () => {
    const cwd = tempDir();
    const program = serve(cwd, '--log-level', 'debug');
    const { port } = new URL(await program.ready());
    const forged = '2026-01-02 03:04:05.678\tERROR\tx.go:1\t[a] [b]: forged';
    await sendRaw(Number(port), `GET /x?${encodeURIComponent(`\r\n${forged}`)} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await sendRaw(Number(port), `GET /x\xc2\x85\x9b HTTP/1.1\r\nHost: e\x85vil\r\n\r\n`);
    await sendRaw(Number(port), `GET /\n${forged} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await sendRaw(Number(port), `GET /api/v1/log/view?file=\u202e\x1b[31m HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    program.kill('SIGTERM');
    expect((await program.end()).code).toBe(0);
    const lines = readFileSync(join(cwd, 'data/log/porthole.log'), 'utf8').split('\n').slice(0, -1);
    expect(lines.some((line) => line.includes('answered'))).toBe(true);
    for (const line of lines) {
      expect(line).toMatch(
        /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\t(DEBUG|INFO|WARN)\t[^\t]+:\d+\t\[[^\]]+\] \[[^\]]+\]: [^\t]+(\t\{.*\})?$/,
      );
      expect(line.replaceAll('\t', '')).not.toMatch(/\p{Cc}|\p{Zl}|\p{Bidi_Control}/u);
    }
  });
});

it('writes its log to stdout where it is to, and goes on when nobody reads it any more', async () => {
  const cwd = tempDir();
  const args = ['serve', '--http-port', '0', '--grpc-port', '0', '--log-to', 'stdout', '--access-log', 'all'];
  const program = new Program(args, { cwd });
  const url = await program.ready();
  expect(program.stdout).toMatch(/^\S+ \S+\tINFO\t\S+:\d+\t\[node\] \[start\]: the node is ready\t\{/m);
  expect(readdirSync(join(cwd, 'data'))).not.toContain('log');
  program.stopReading();
  for (let asked = 0; asked < 20; asked += 1) expect((await fetch(`${url}api/v1/config`)).status).toBe(200);
  program.kill('SIGTERM');
  expect((await program.end()).code).toBe(0);
});

function sendRaw(port: number, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes, 'latin1'));
    socket.resume();
    socket.once('error', () => resolve());
    socket.once('close', () => resolve());
  });
}

it('copies of logs of members that a killed node leaves are its recording until the next one has its own', async () => {
  const cwd = tempDir();
  const TMPDIR = join(cwd, 'tmp');
  mkdirSync(TMPDIR);
  const copies = () => {
    const dir = join(cwd, 'data', 'recorded', 'lindb');
    return existsSync(dir) ? readdirSync(dir).filter((name) => name.startsWith('copy-')) : [];
  };
  const member = await startLindbNode({ 'a.log': '2026-11-15 10:00:00.000\tINFO\ta.go:1\ttext\n'.repeat(9) });
  const zone = ['--cluster-member-zones', 'lindb=UTC'];
  const flags = ['--http-port', '0', '--grpc-port', '0', '--cluster-members', `lindb=${member}`, ...zone];
  const start = () => new Program(['serve', ...flags], { cwd, env: { TMPDIR } });
  const search = async (url: string) => expect((await fetch(`${url}api/v1/log/search?nodes=*`)).status).toBe(200);

  const killed = start();
  await search(await killed.ready());
  await eventually(() => expect(copies()).toHaveLength(1));
  const left = copies();
  killed.kill('SIGKILL');
  await killed.end();
  expect(copies()).toEqual(left);

  const next = start();
  await search(await next.ready());
  await eventually(() => expect(copies().filter((name) => left.includes(name))).toEqual([]));
  next.kill('SIGTERM');
  await next.end();
  expect(copies()).toHaveLength(1);
  expect(readdirSync(TMPDIR)).toEqual([]);
});
