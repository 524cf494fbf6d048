import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AttackedNode } from './testing/attacked-node.ts';
import { tempDir } from './testing/program.ts';
import { openMany } from './testing/raw-http.ts';

const FILES = { 'a.log': 'text\n' };
const VIEW = 'api/v1/log/view?file=a.log';

describe('a node without descriptors', () => {
  it('goes on with those it has, and takes connections again once there are some', async () => {
    const node = await AttackedNode.start({ files: FILES });
    await node.request(VIEW);
    const held = await openMany(node.port, 20);
    execFileSync('prlimit', ['--pid', String(node.program.pid), `--nofile=${node.openFiles + 5}:`]);
    const beyond = await openMany(node.port, 100);
    for (const socket of held) socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all(held.map((socket) => once(socket, 'data')));
    for (const socket of beyond) socket.destroy();
    await eventually(async () => expect((await node.request(VIEW)).text).toBe('text\n'));
    execFileSync('prlimit', ['--pid', String(node.program.pid), '--nofile=1000:']);
    expect((await node.request(VIEW)).text).toBe('text\n');
    await node.expectHealthy();
  });
});

describe('a node with little memory', () => {
  it('serves or refuses large questions, and does not die of them', async () => {
    const line = '2026-11-15 05:00:00.000\tINFO\tbroker/runtime.go:172\t[Broker] [Runtime]: a record like any other\n';
    const files = { 'big.log': line.repeat(100_000) };
    const node = await AttackedNode.start({ files, env: { NODE_OPTIONS: '--max-old-space-size=64' } });
    const questions = ['search?limit=10000&order=oldest', 'search?limit=10000&q=record', 'histogram?', 'digest?'];
    const asked = Array.from({ length: 8 }, (_, n) => `api/v1/log/${questions[n % questions.length]}&file=big.log`);
    const statuses = await Promise.all(asked.map(async (path) => (await node.request(path)).status));
    expect(statuses.filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
    expect((await node.request('api/v1/log/view?file=big.log&size=1000')).status).toBe(200);
    await node.expectHealthy();
  });
});

describe('a log directory that hangs', () => {
  it('makes answers from it late, and nothing else', async () => {
    const node = await AttackedNode.start({ files: FILES, flags: ['--http-answer-timeout', '1s'] });
    const release = await holdUp(node);
    const views = await Promise.all(Array.from({ length: 6 }, () => node.request(VIEW)));
    expect(views.map(({ status }) => status)).toEqual(Array(6).fill(504));
    const { status, text } = await node.request('health/ready');
    expect([status, JSON.parse(text)]).toMatchObject([200, { status: 'degraded' }]);
    expect((await node.request('api/v1/config')).status).toBe(200);
    await release();
    await eventually(async () => expect((await node.request(VIEW)).text).toBe('text\n'));
    await node.expectHealthy();
  });

  /** Every call of the system for the directory or a file in it takes a minute, as on a network disk that is gone. */
  async function holdUp({ program, logDir }: AttackedNode): Promise<() => Promise<void>> {
    const paths = [logDir, join(logDir, 'a.log')].flatMap((path) => ['-P', path]);
    const calls = ['-e', 'trace=file,getdents64', '-e', 'inject=file,getdents64:delay_enter=60000000'];
    const strace = spawn('strace', ['-f', ...paths, ...calls, '-o', '/dev/null', '-p', String(program.pid)]);
    onTestFinished(() => void strace.kill('SIGKILL'));
    await once(strace.stderr, 'data'); // it says that it is attached
    return async () => {
      strace.kill('SIGTERM');
      await once(strace, 'exit');
    };
  }
});

describe('a clock that jumps', () => {
  it('forward and back leaves a node that answers, limits and writes its log', async () => {
    const cwd = tempDir();
    const clock = join(cwd, 'clock');
    writeFileSync(clock, '+0');
    const env = { LD_PRELOAD: fakeTimeLibrary(), FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: '1' };
    const flags = ['--log-level', 'debug', '--http-max-requests-per-second', '1000'];
    const node = await AttackedNode.start({ cwd, files: FILES, flags, env: { ...env, DONT_FAKE_MONOTONIC: '1' } });
    const times: number[] = [];
    for (const offset of ['+3600', '+31536000', '-86400', '+0']) {
      writeFileSync(clock, offset);
      times.push((JSON.parse((await node.request('api/v1/node')).text) as { clockMs: number }).clockMs);
      expect((await node.request(VIEW)).text).toBe('text\n');
      expect((await node.request('api/v1/log/search?file=a.log')).status).toBe(200);
    }
    const [hour = 0, year = 0, yesterday = 0, now = 0] = times;
    expect([year > hour, yesterday < now, Math.abs(now - Date.now()) < 60_000]).toEqual([true, true, true]);
    await node.request('api/v1/config');
    // In a new file: the old one was aged.
    await eventually(() => expect(node.ownLines.join()).toContain('"route":"/api/v1/config"'));
    await node.expectHealthy();
  });
});

/** Debian puts it below the folder of the machine's kind. */
function fakeTimeLibrary(): string {
  const folders = readdirSync('/usr/lib').map((name) => join('/usr/lib', name, 'faketime'));
  const folder = folders.find((path) => path.includes('linux-gnu'));
  return join(folder ?? '', 'libfaketimeMT.so.1');
}
