import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { canMount, mountSmallDisk, remount } from '@porthole/archive/testing';
import type { ClusterLogFiles } from '@porthole/contract';
import { LogDir } from '@porthole/logs';
import { eventually, searchItems } from '@porthole/logs/testing';
import { IS_LONG_RUN, tempDir } from '@porthole/records/testing';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AttackedNode } from './testing/attacked-node.ts';
import { fakeClock } from './testing/program.ts';
import { openMany } from './testing/raw-http.ts';

const FILES = { 'a.log': 'text\n' };
const VIEW = 'api/v1/log/view?file=a.log';

describe('a node without descriptors', () => {
  it('goes on with those it has, and takes connections again once there are some', async () => {
    const node = await AttackedNode.start({ files: FILES });
    await node.request(VIEW);
    const files = node.openFiles;
    const held = await openMany(node.port, 20);
    // A busy node accepts them later than they are connected.
    await eventually(() => expect(node.openFiles).toBeGreaterThanOrEqual(files + held.length));
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
    const asked = Array.from({ length: 8 }, (_, n) => `api/v1/log/${questions[n % questions.length]}&src==big.log`);
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
    // programs: strace prlimit
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
    const env = fakeClock(clock);
    const flags = ['--log-level', 'debug', '--http-max-requests-per-second', '1000'];
    const node = await AttackedNode.start({ cwd, files: FILES, flags, env });
    const times: number[] = [];
    for (const offset of ['+3600', '+31536000', '-86400', '+0']) {
      writeFileSync(clock, offset);
      times.push((JSON.parse((await node.request('api/v1/node')).text) as { clockMs: number }).clockMs);
      expect((await node.request(VIEW)).text).toBe('text\n');
      expect((await node.request('api/v1/log/search?src==a.log')).status).toBe(200);
    }
    const [hour = 0, year = 0, yesterday = 0, now = 0] = times;
    expect([year > hour, yesterday < now, Math.abs(now - Date.now()) < 60_000]).toEqual([true, true, true]);
    await node.request('api/v1/config');
    // In a new file: the old one was aged.
    await eventually(() => expect(node.ownLines.join()).toContain('"route":"/api/v1/config"'));
    await node.expectHealthy();
  });
});

const MIB = 1024 ** 2;

describe('an archive that is small and holds much', () => {
  it('is searched in little memory, within the time a question has', async () => {
    const member = gzipSync(Buffer.alloc(32 * MIB));
    const files = { 'a.log.1.gz': Buffer.concat(Array.from({ length: 32 }, () => member)), 'a.log': 'text\n' };
    const node = await AttackedNode.start({ files, flags: ['--search-budget', '2s'] });
    const before = node.residentMib;
    const answers = await Promise.all(
      ['search?q=text', 'search?q=nothing', 'histogram?', 'digest?'].map((question) =>
        node.request(`api/v1/log/${question}&src==a.log`),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(node.residentMib - before).toBeLessThan(400);
    expect((await node.request('api/v1/log/view?file=a.log')).text).toBe('text\n');
    await node.expectHealthy();
  });
});

/** Far more than names are compared with a wrong one. A long run tries so many that a list of them takes seconds. */
const NAMES = IS_LONG_RUN ? 30_000 : 12_000;

describe('a directory of many thousand files', () => {
  it('is listed and searched, and keeps nobody waiting', async () => {
    const node = await AttackedNode.start({ files: { 'first.log': 'line\n' }, flags: ['--search-budget', '2s'] });
    fillWithLinks(node.logDir, NAMES);
    const files = node.openFiles;
    const list = JSON.parse((await node.request('api/v1/log/list')).text) as unknown[];
    expect(list).toHaveLength(NAMES);
    const wrong = Array.from({ length: 10 }, (_, n) => node.request(`api/v1/log/view?file=servce-1234${n}.log`));
    for (const { status, text } of await Promise.all(wrong)) {
      expect([status, JSON.parse(text)]).toMatchObject([404, { code: 'LOG_FILE_NOT_FOUND' }]);
      expect(text).not.toContain('did you mean');
    }
    const details = await Promise.all([1, 2, 3].map(() => node.request('api/v1/log/files')));
    for (const { text } of details) expect((JSON.parse(text) as ClusterLogFiles).files).toHaveLength(NAMES);
    const answers = await Promise.all(
      ['search?q=line', 'histogram?'].map((path) => node.request(`api/v1/log/${path}`)),
    );
    for (const { status } of answers) expect(status).toBeLessThan(500);
    // Records of 200 logs are counted, which keeps these open.
    await eventually(() => expect(node.openFiles).toBeLessThan(files + 300));
    await node.expectHealthy();
  });
});

/** Names of few files: they are made in a tenth of the time. One can have 65,000 at most. */
function fillWithLinks(dir: string, names: number): void {
  for (let made = 1; made < names; made++) {
    const first = made - (made % 10_000) || 1;
    const path = join(dir, `service-${made}.log`);
    if (made === first) writeFileSync(path, `line of ${made}\n`);
    else linkSync(join(dir, `service-${first}.log`), path);
  }
}

/** At least 16 blocks: what is known of fewer is not kept. */
const LOG = Array.from(
  { length: 100_000 },
  (_, number) => `2026-06-01 10:00:00.000\t${number % 40_000 === 0 ? 'ERROR' : 'INFO'}\ta.go:1\tline ${number}\n`,
).join('');

const ERRORS = { src: ['=a.log'], minLevel: 'ERROR', order: 'oldest', limit: 100, before: 0, after: 0 } as const;

async function countErrors(logs: LogDir): Promise<number> {
  let count = 0;
  for await (const items of searchItems(logs, ERRORS)) count += items.filter(({ type }) => type === 'record').length;
  return count;
}

const FAULTS = [
  {
    code: 'ENOSPC',
    break: (disk: string) => expect(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(2 ** 20))).toThrow('ENOSPC'),
  },
  { code: 'EROFS', break: (disk: string) => remount(disk, 'ro') },
];

// Without the right to mount there is no such disk; kept-summaries.test.ts puts a file or a link in its place.
describe.skipIf(!canMount())('a disk for the indexes', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each(FAULTS)('with $code is reported once and in the metrics, and changes no answer', async (fault) => {
    const dir = tempDir();
    const index = join(tempDir(), 'index');
    writeFileSync(join(dir, 'a.log'), LOG);
    mountSmallDisk(index, '64k');
    fault.break(index);
    // Only the date differs: what changes all the time is not kept.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    const problems: string[] = [];
    const onProblem = (problem: string) => problems.push(problem);
    const indexDir = { dir: index, maxBytes: () => 2 ** 20, version: '1', idleMs: 1, onProblem };
    const logs = new LogDir(dir, { indexDir });
    onTestFinished(() => logs.close());
    expect(await countErrors(logs)).toBe(3);
    await eventually(() => expect(problems).toEqual([`${index}: ${fault.code}`]));
    expect(logs.usage.diskIndex).toMatchObject({ problem: `${index}: ${fault.code}` });
    expect(await countErrors(logs)).toBe(3);
    await logs.close();
    expect(problems).toHaveLength(1);
  });
});
