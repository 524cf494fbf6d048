import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { bundleProgram, eventually } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';

/** Two networks of this process, with documentation addresses, which nobody has. */
const [LEFT, RIGHT] = [`porthole-lc-l-${process.pid}`, `porthole-lc-r-${process.pid}`] as const;
const [LEFT_LINK, RIGHT_LINK] = [`lcl${process.pid % 1e6}`, `lcr${process.pid % 1e6}`] as const;
const SERVER = '192.0.2.1';
const GONE = '192.0.2.2';
const QUIET = '192.0.2.3';
const STOPPED = '192.0.2.4';

/** Sends something to all clients all the time; says who is connected, and who no longer. */
const SERVER_PROGRAM = `
  import { createServer } from 'node:net';
  import { LostConnections } from './connections.ts';
  const lost = new LostConnections({ sweepMs: 150 });
  createServer((socket) => {
    const { remoteAddress } = socket;
    const unwatch = lost.watch(socket);
    lost.watch(socket)(); // another stream of the same connection has ended
    const beat = setInterval(() => socket.write('beat'), 50);
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(beat);
      unwatch();
      console.log('closed ' + remoteAddress);
    });
    console.log('connected ' + remoteAddress);
  }).listen(7000, '${SERVER}', () => console.log('ready'));
`;

const CLIENT_PROGRAM = `
  import { connect } from 'node:net';
  connect({ host: '${SERVER}', port: 7000, localAddress: process.argv[2] }).resume();
`;

function ip(...args: string[]): void {
  // programs: ip
  execFileSync('ip', args, { stdio: 'pipe' });
}

function canMakeNetworks(): boolean {
  const may =
    spawnSync('ip', ['netns', 'add', LEFT]).status === 0 && spawnSync('ip', ['netns', 'del', LEFT]).status === 0;
  if (!may) console.warn('this process may not make networks: tests that need one are skipped');
  return may;
}

function connectNetworks(): void {
  for (const space of [LEFT, RIGHT]) {
    ip('netns', 'add', space);
    onTestFinished(() => ip('netns', 'del', space));
  }
  ip('link', 'add', LEFT_LINK, 'netns', LEFT, 'type', 'veth', 'peer', 'name', RIGHT_LINK, 'netns', RIGHT);
  ip('-n', LEFT, 'addr', 'add', `${SERVER}/24`, 'dev', LEFT_LINK);
  for (const address of [GONE, QUIET, STOPPED]) ip('-n', RIGHT, 'addr', 'add', `${address}/24`, 'dev', RIGHT_LINK);
  ip('-n', LEFT, 'link', 'set', LEFT_LINK, 'up');
  ip('-n', RIGHT, 'link', 'set', RIGHT_LINK, 'up');
}

function run(space: string, program: string, ...args: string[]) {
  const child = spawn('ip', ['netns', 'exec', space, process.execPath, program, ...args]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const running = { stdout: '', kill: (signal: NodeJS.Signals) => child.kill(signal) };
  child.stdout.on('data', (chunk: Buffer) => {
    running.stdout += String(chunk);
  });
  return running;
}

// Namespaces need rights that not every machine gives.
it.runIf(canMakeNetworks())(
  'a connection whose packets are lost is closed, and not one whose client is quiet or does not read',
  async () => {
    connectNetworks();
    const server = run(LEFT, bundleProgram(SERVER_PROGRAM, import.meta.dirname));
    await eventually(() => expect(server.stdout).toContain('ready'));
    const clientProgram = bundleProgram(CLIENT_PROGRAM, import.meta.dirname);
    const clients = [GONE, QUIET, STOPPED].map((address) => run(RIGHT, clientProgram, address));
    for (const address of [GONE, QUIET, STOPPED])
      await eventually(() => expect(server.stdout).toContain(`connected ${address}`));
    clients[2]?.kill('SIGSTOP');
    // To a machine that does not exist.
    ip('-n', LEFT, 'neigh', 'replace', GONE, 'lladdr', '02:00:00:00:00:01', 'dev', LEFT_LINK, 'nud', 'permanent');
    await eventually(() => expect(server.stdout).toContain(`closed ${GONE}`));
    expect(server.stdout).not.toMatch(`closed ${QUIET}`);
    expect(server.stdout).not.toMatch(`closed ${STOPPED}`);
  },
);
