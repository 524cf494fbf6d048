import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { Program, runToEnd, serve } from './testing/program.ts';

const root = join(import.meta.dirname, '..');

const DEFAULT_PORT = 7300;

/** A loopback address at which nothing else has the default ports, whatever runs on this machine. */
function ownHost(): string {
  return `127.${[250, 250, 250].map((most) => randomInt(1, most)).join('.')}`;
}

/** Takes the default port, unless another program has it already. */
async function occupyDefaultPort(host: string): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve() : reject(error)));
    server.listen(DEFAULT_PORT, host, resolve);
  });
}

it('a second node on the default ports says who has them and takes the next free ones', async () => {
  const args = ['serve', '--http-host', ownHost()];
  const firstUrl = await new Program(args, { cwd: tempDir() }).ready();
  expect(new URL(firstUrl).port).toBe(String(DEFAULT_PORT));
  const second = new Program(args, { cwd: tempDir() });
  const secondUrl = await second.ready();
  expect(secondUrl).not.toBe(firstUrl);
  await eventually(() =>
    expect(second.stderr).toMatch(
      new RegExp(`port (${DEFAULT_PORT}|${DEFAULT_PORT + 1}) is in use by a running Porthole node`),
    ),
  );
  expect((await fetch(`${secondUrl}health/live`)).status).toBe(200);
  const { node } = (await (await fetch(`${secondUrl}api/v1/config`)).json()) as {
    node: { grpcPort: number; httpPort: number };
  };
  expect(new URL(secondUrl).port).toBe(String(node.httpPort));
});

it('a demo whose default port is taken says so and takes another', async () => {
  await occupyDefaultPort('127.0.0.1');
  const demo = new Program(['demo', '--nodes', '1', '--rate', '0'], { cwd: tempDir() });
  expect(new URL(await demo.ready()).port).not.toBe(String(DEFAULT_PORT));
  expect(demo.stderr).toContain(`port ${DEFAULT_PORT} is in use`);
});

it('a port that was asked for and is taken by a node is refused, and says so', async () => {
  const url = await serve(tempDir()).ready();
  const { port } = new URL(url);
  const { code, stderr } = await runToEnd(['serve', '--http-port', port, '--grpc-port', '0'], tempDir());
  expect(code).toBe(2);
  expect(stderr).toMatch(
    new RegExp(`^porthole: port ${port} is in use by a running Porthole node \\(version \\S+\\): choose another`),
  );
});

it('the default port taken by another program is an error that names it', async () => {
  const host = ownHost();
  await occupyDefaultPort(host);
  const { code, stderr } = await runToEnd(['serve', '--http-host', host, '--grpc-port', '0'], tempDir());
  expect(code).toBe(2);
  expect(stderr).toContain(`port ${DEFAULT_PORT} is in use by `);
  expect(stderr).toContain(`(process ${process.pid})`);
});

it('two nodes with one logging.dir: the second warns, in its log and on stderr, and so does the doctor', async () => {
  const cwd = tempDir();
  const first = serve(cwd);
  await first.ready();
  expect(first.stderr).not.toContain('logging.dir');
  const second = serve(cwd);
  await second.ready();
  const warning = `logging.dir: another node (process ${first.pid}) writes its own log to ${join(cwd, 'data/log')} too`;
  await eventually(() => expect(second.stderr).toContain(warning));
  await eventually(() => expect(readFileSync(join(cwd, 'data/log/porthole.log'), 'utf8')).toContain(warning));
  const { stdout } = await runToEnd(['doctor', '--http-port', '0', '--grpc-port', '0'], cwd);
  expect(stdout).toContain('2 nodes write their own log to');
});

it('SIGTERM to npm start stops the node: nothing is left running', async () => {
  const cwd = tempDir();
  const env = { ...(process.env as Record<string, string>), PORTHOLE_LOGGING_DIR: join(cwd, 'log') };
  const npm = new Program(['start', '--prefix', root, '--', '--http-port', '0', '--grpc-port', '0'], {
    cwd,
    env,
    command: 'npm',
  });
  await npm.ready();
  const started = listDescendants(npm.pid);
  expect(started.length).toBeGreaterThan(0);
  process.kill(npm.pid, 'SIGTERM');
  await npm.end();
  await eventually(() => expect(started.filter(isRunning)).toEqual([]));
});

it('SIGTERM to npm test ends its suites: nothing is left running', async () => {
  const env = process.env as Record<string, string>;
  const npm = new Program(['test', '--prefix', root, '--', 'packages/logs/src/follow/follow.torture.system.test.ts'], {
    cwd: root,
    env,
    command: 'npm',
  });
  await eventually(() => expect(npm.stdout).toContain('RUN'), { withinMs: 60_000 });
  const started = listDescendants(npm.pid);
  expect(started.length).toBeGreaterThan(1);
  process.kill(npm.pid, 'SIGTERM');
  await npm.end();
  await eventually(() => expect(started.filter(isRunning)).toEqual([]));
});

function listDescendants(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentPid(Number(name))] as const);
  const below = (id: number): number[] =>
    parents.filter(([, parent]) => parent === id).flatMap(([child]) => [child, ...below(child)]);
  return below(pid);
}

function parentPid(pid: number): number {
  return Number(readStat(pid)?.[1] ?? 0);
}

function isRunning(pid: number): boolean {
  const state = readStat(pid)?.[0];
  return state !== undefined && state !== 'Z';
}

/** State and parent, behind the name in brackets. */
function readStat(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
  } catch {
    return undefined; // it has ended
  }
}
