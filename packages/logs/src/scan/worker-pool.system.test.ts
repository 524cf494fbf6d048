import { closeSync, openSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CancelFlag } from '../cancel-flag.ts';
import { eventually } from '../testing/eventually.ts';
import { SLOW_REGEX, slowText } from '../testing/slow-regex.ts';
import type { ScanFile } from './block/scan-file.ts';
import type { HistogramJob, RegexJob } from './jobs.ts';
import { WorkerPool } from './worker-pool.ts';

const LINE = '2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: line\n';
const SECOND_MS = 1000;

/** Takes a thread minutes. */
const SLOW_RECORD = Buffer.from(slowText(2 * 1024 ** 2));

function openPool(most: number): WorkerPool {
  const pool = new WorkerPool(most);
  onTestFinished(() => pool.close());
  return pool;
}

function openFile(lines: number, line = LINE): ScanFile {
  const path = join(tempDir(), 'a.log');
  writeFileSync(path, line.repeat(lines));
  const fd = openSync(path, 'r');
  onTestFinished(() => closeSync(fd));
  const sizeBytes = lines * line.length;
  return {
    ...{
      name: 'a.log',
      fd,
      sizeBytes,
      textBytes: sizeBytes,
      packedMap: undefined,
      textStart: 0,
      start: undefined,
      scrub: undefined,
    },
    ...{ format: 'contract', zone: 'UTC', writtenMs: 0 },
  };
}

function countJob(file: ScanFile, runs: number[]): HistogramJob {
  const part = { file, startBytes: 0, endBytes: file.textBytes };
  return { kind: 'histogram', ...part, runs, filter: {}, bucketMs: SECOND_MS };
}

function slowJob(): RegexJob {
  return { kind: 'regex', filter: { regex: SLOW_REGEX }, texts: [SLOW_RECORD] };
}

it('a short job does not wait for long ones queued before it', async () => {
  const pool = openPool(1);
  const file = openFile(100);
  const long = countJob(file, [0, 100]);
  const ended: string[] = [];
  await pool.run(countJob(file, [0, 1]));
  await Promise.all([
    ...['first', 'second', 'third'].map((name) => pool.run(long).then(() => ended.push(name))),
    pool.run({ kind: 'align', file, offset: 70 }).then(() => ended.push('short')),
    pool.run({ ...long, runs: [0, 1] }).then(() => ended.push('also short')),
  ]);
  // The first had started.
  expect(ended).toEqual(['first', 'short', 'also short', 'second', 'third']);
});

it('small jobs that wait are done together, each with a result, a failure or a flag of its own', async () => {
  const pool = openPool(1);
  const file = openFile(10);
  const job = (changes = {}) => ({
    kind: 'times' as const,
    file: { ...file, ...changes },
    runs: [0, 1],
    startBytes: 0,
    endBytes: file.textBytes,
  });
  const { minMs } = await pool.run(job());
  const flags = Array.from({ length: 100 }, () => new CancelFlag());
  // Its descriptor is none.
  const results = flags.map((flag, index) => pool.run(job(index % 10 === 3 ? { fd: 1_000_000 } : {}), flag));
  for (const [index, flag] of flags.entries()) if (index % 10 === 7) flag.set();
  const settled = await Promise.allSettled(results);
  const outcome = (index: number) => {
    const result = settled[index];
    return result?.status === 'fulfilled' ? result.value.minMs : ((result?.reason as Error | undefined)?.name ?? '');
  };
  for (let index = 0; index < 100; index++) {
    const expected = index % 10 === 3 ? 'LogError' : index % 10 === 7 ? 'JobCancelled' : minMs;
    expect(outcome(index), `job ${index}`).toBe(expected);
  }
  expect(pool.usage).toMatchObject({ threads: 1, jobs: 0, replacedThreads: 0 });
});

describe('a client', () => {
  it('gets a thread that another one has just used', async () => {
    const pool = openPool(1);
    const file = openFile(10);
    const run = (client: string) => pool.run(countJob(file, [0, 1]), new CancelFlag({ client }));
    for (let round = 0; round < 50; round++) await run(`client ${round}`);
    // One waits while the other ends, and nothing else happens then.
    for (let round = 0; round < 50; round++) expect(await Promise.all([run('a'), run('b')])).toHaveLength(2);
  });

  it('does not wait for all jobs that another one has queued', async () => {
    const pool = openPool(1);
    const file = openFile(30_000);
    const job = countJob(file, [0, 128]);
    const ended: string[] = [];
    await pool.run(job);
    const run = (client: string) => pool.run(job, new CancelFlag({ client })).then(() => ended.push(client));
    await Promise.all([...Array.from({ length: 60 }, () => run('greedy')), run('modest'), run('modest')]);
    expect(ended).toHaveLength(62);
    expect(ended.lastIndexOf('modest')).toBeLessThan(40);
  });

  it('has a thread that is free after the turn of another one, which does nothing more', async () => {
    const pool = openPool(1);
    const file = openFile(10);
    const job = countJob(file, [0, 1]);
    const run = (client: string) => pool.run(job, new CancelFlag({ client }));
    for (let turn = 0; turn < 20; turn++) await Promise.all([run('a'), run('b'), run('c')]);
    expect(pool.usage.jobs).toBe(0);
  });

  it('waits only until jobs of another one pause', async () => {
    const pool = openPool(1);
    const file = openFile(1_000_000);
    const [greedy, modest] = [new CancelFlag({ client: 'greedy' }), new CancelFlag({ client: 'modest' })];
    await pool.run(countJob(file, [0, 1]));
    const [paused, small] = await Promise.all([
      pool.run(countJob(file, [0, 184]), greedy),
      pool.run(countJob(file, [0, 1]), modest),
    ]);
    expect(paused.pausedAt).toBeGreaterThan(0);
    expect(small.pausedAt).toBeUndefined();
    const alone = await pool.run(countJob(file, [0, 184]), new CancelFlag({ client: 'greedy' }));
    expect(alone.pausedAt).toBeUndefined();
  });

  it('does not wait for one that decompresses whole files', async () => {
    const pool = openPool(1);
    const path = join(tempDir(), 'a.log.gz');
    // 8 GB of text, which takes longer than anything else here.
    writeFileSync(path, Buffer.concat(Array(4000).fill(gzipSync(LINE.repeat(40_000)))));
    const fd = openSync(path, 'r');
    onTestFinished(() => closeSync(fd));
    const file = { ...openFile(10), name: 'a.log.gz', fd, sizeBytes: statSync(path).size };
    await pool.run(countJob(openFile(10), [0, 1]));
    const greedy = new CancelFlag({ client: 'greedy' });
    const maps = Promise.allSettled([1, 2].map(() => pool.run({ kind: 'packed-map', file }, greedy)));
    const { counts } = await pool.run(countJob(openFile(10), [0, 1]));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(10);
    expect(pool.usage).toMatchObject({ threads: 2, jobs: 2 });
    greedy.set();
    expect((await maps).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('waits for a file that another one has decompressed as for its own', async () => {
    const pool = openPool(1);
    const file = openFile(30_000);
    const job = countJob(file, [0, 128]);
    const ended: string[] = [];
    await pool.run(job);
    const run = (client: string, flag = new CancelFlag({ client })) =>
      pool.run(job, flag).then(() => ended.push(flag.client));
    const shared = new CancelFlag({ client: 'greedy' });
    const running = [...Array.from({ length: 60 }, () => run('greedy')), run('', shared)];
    pool.adopt(shared, 'modest');
    await Promise.all(running);
    expect(ended.indexOf('modest')).toBeLessThan(40);
  });
});

describe('a job with a slow regex', () => {
  it('pauses in the middle of a block', async () => {
    const slow = openFile(500, LINE.replace('line', `${slowText(2000)}bQ`));
    const flag = new CancelFlag();
    const job = { ...countJob(slow, [0, 4]), filter: { regex: SLOW_REGEX } };
    const { pausedAt } = await openPool(1).run(job, flag);
    expect(pausedAt).toBeGreaterThan(0);
    expect(pausedAt).toBeLessThan(slow.sizeBytes);
    expect(flag.isSlow).toBe(true);
  });

  it('continues after queued jobs of others', async () => {
    const pool = openPool(1);
    const file = openFile(100);
    const ended: string[] = [];
    const slow = new CancelFlag();
    slow.isSlow = true;
    const job = countJob(file, [0, 1]);
    await Promise.all([
      pool.run(job).then(() => ended.push('first')),
      pool.run(job, slow).then(() => ended.push('slow')),
      pool.run(job).then(() => ended.push('other')),
    ]);
    expect(ended).toEqual(['first', 'other', 'slow']);
  });
});

it('runs all jobs in the threads there are while another one starts, which it does for jobs of another client', async () => {
  const pool = openPool(2);
  const file = openFile(100);
  const job = countJob(file, [0, 1]);
  await pool.run(job);
  const ended: number[] = [];
  const run = (number: number) => pool.run(job, new CancelFlag({ client: `${number % 2}` }));
  // The last one ends only when all before it have: with one thread, or with two of which one has just started.
  await Promise.all(Array.from({ length: 6 }, (_, number) => run(number).then(() => ended.push(number))));
  expect(ended.sort()).toEqual([0, 1, 2, 3, 4, 5]);
  expect(pool.usage).toMatchObject({ threads: 2, jobs: 0, replacedThreads: 0 });
});

it('starts another thread for searches of the same client only after some time, for counts at once', async () => {
  const pool = openPool(2);
  const file = openFile(100_000);
  const search = (end: number) =>
    pool.run({ kind: 'times', file, startBytes: 0, endBytes: file.textBytes, runs: [0, end] });
  await search(1);
  await Promise.all(Array.from({ length: 6 }, () => search(1)));
  expect(pool.usage.threads).toBe(1);
  let isStarted = false;
  const runAll = async () => {
    while (!isStarted) await search(Math.ceil(file.textBytes / (256 * 1024)));
  };
  const all = Promise.all([runAll(), runAll(), runAll()]);
  await eventually(() => expect(pool.usage.threads).toBe(2));
  isStarted = true;
  await all;
  const counting = openPool(2);
  await counting.run(countJob(file, [0, 1]));
  await Promise.all([counting.run(countJob(file, [0, 10])), counting.run(countJob(file, [10, 20]))]);
  expect(counting.usage.threads).toBe(2);
});

it('has a thread before the first job once it is prepared', async () => {
  const pool = openPool(2);
  await pool.prepare();
  expect(pool.usage).toEqual({ threads: 1, jobs: 0, replacedThreads: 0 });
  await pool.prepare();
  expect(pool.usage.threads).toBe(1);
  const { counts } = await pool.run(countJob(openFile(3), [0, 1]));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3);
  await pool.close();
  await pool.prepare();
  expect(pool.usage.threads).toBe(0);
});

it('ends the thread of a prepared pool only after ten minutes without a job, and starts one again when asked', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const pool = openPool(2);
    await pool.prepare();
    vi.advanceTimersByTime(599_000);
    await pool.run(countJob(openFile(3), [0, 1]));
    vi.advanceTimersByTime(599_000);
    expect(pool.usage.threads).toBe(1);
    vi.advanceTimersByTime(2000);
    expect(pool.usage.threads).toBe(0);
    await pool.prepare();
    expect(pool.usage.threads).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

describe('a cancelled job', () => {
  it('is removed at once if it is queued', async () => {
    const pool = openPool(1);
    const [running, waiting] = [new CancelFlag(), new CancelFlag()];
    const held = pool.run(slowJob(), running);
    const dropped = pool.run(countJob(openFile(1), [0, 1]), waiting);
    expect(pool.usage.jobs).toBe(2);
    waiting.set();
    await expect(dropped).rejects.toMatchObject({ name: 'JobCancelled' });
    expect(pool.usage.jobs).toBe(1);
    running.set();
    await expect(held).rejects.toThrow();
  });

  it('never starts if it was cancelled before', async () => {
    const pool = openPool(1);
    const flag = new CancelFlag();
    flag.set();
    await expect(pool.run(slowJob(), flag)).rejects.toMatchObject({ name: 'JobCancelled' });
    expect(pool.usage).toEqual({ threads: 0, jobs: 0, replacedThreads: 0 });
  });

  it('that does not stop is terminated with its thread, and the next job gets another', async () => {
    // On a busy machine, a thread that seems stuck may not have begun with the regex: then it stops when requested.
    let failure: unknown;
    do failure = await stopStuckJob();
    while (String(failure).includes('JobCancelled'));
    expect(failure).toMatchObject({ code: 'REGEX_TOO_COMPLEX' });
  });
});

/** How a job fails that is cancelled in the middle of a regex. The thread of one that did not stop is replaced. */
async function stopStuckJob(): Promise<unknown> {
  const pool = openPool(1);
  const file = openFile(10);
  // The thread has started: it is in the middle of the regex when the flag is set.
  await pool.run({ kind: 'align', file, offset: 0 });
  const flag = new CancelFlag();
  const stuck = pool.run(slowJob(), flag);
  const next = pool.run({ ...slowJob(), filter: { regex: 'a' } });
  // Done by another thread, once the only one is known to be stuck.
  expect(await pool.run({ kind: 'align', file, offset: LINE.length })).toBe(LINE.length);
  expect(pool.usage).toEqual({ threads: 2, jobs: 2, replacedThreads: 0 });
  flag.set();
  const [failed, nextResult] = await Promise.allSettled([stuck, next]);
  expect(nextResult).toMatchObject({ value: [true] });
  const failure: unknown = failed.status === 'rejected' ? failed.reason : undefined;
  const wasStopped = String(failure).includes('JobCancelled');
  expect(pool.usage).toMatchObject({ jobs: 0, replacedThreads: wasStopped ? 0 : 1 });
  return failure;
}

describe('a thread that dies', () => {
  /** A value a thread cannot receive: it fails outside of any job. */
  class DeadlyFlag extends CancelFlag {
    override readonly shared = -1 as never;
    override get isSet(): boolean {
      return false;
    }
  }

  it('fails its own job, and is replaced for the queued ones', async () => {
    const pool = openPool(1);
    const file = openFile(10);
    const died = pool.run({ kind: 'align', file, offset: 0 }, new DeadlyFlag());
    const others = [1, 2].map((line) => pool.run({ kind: 'align', file, offset: line * LINE.length }));
    await expect(died).rejects.toThrow();
    expect(await Promise.all(others)).toEqual([LINE.length, 2 * LINE.length]);
    expect(pool.usage).toEqual({ threads: 1, jobs: 0, replacedThreads: 1 });
  });
});

it('a pool that closes fails running jobs as lost with their thread', async () => {
  const pool = openPool(1);
  const running = pool.run(slowJob());
  const outcome = expect(running).rejects.toMatchObject({ code: 'THREAD_LOST' });
  await eventually(() => expect(pool.usage).toMatchObject({ threads: 1, jobs: 1 }));
  await pool.close();
  await outcome;
});

describe('threads that are all stuck in a regex', () => {
  it('do not block jobs without one', async () => {
    const pool = openPool(2);
    const file = openFile(10);
    const flags = Array.from({ length: 5 }, () => new CancelFlag());
    const stuck = flags.map((flag) => pool.run(slowJob(), flag));
    const settled = Promise.allSettled(stuck);
    // More than once, while none of the slow ones has ended.
    for (let turn = 1; turn <= 3; turn++)
      expect(await pool.run({ kind: 'align', file, offset: LINE.length })).toBe(LINE.length);
    expect(pool.usage).toMatchObject({ threads: 3, jobs: 5 });
    for (const flag of flags) flag.set();
    expect((await settled).every(({ status }) => status === 'rejected')).toBe(true);
    await eventually(() => expect(pool.usage.jobs).toBe(0));
  });
});
