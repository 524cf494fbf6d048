import { describe, expect, test } from 'vitest';
import { LogError } from '../log-error.ts';
import { type SeenFile, SeenStats } from '../read/list.ts';
import { IndexBuilder, type IndexBuilderDeps, seenStamp } from './index-builder.ts';

const MIB = 1024 ** 2;
const HOUR_MS = 3_600_000;

/** A file that was changed this long ago. */
function seen(name: string, { mib = 8, agoMs = HOUR_MS } = {}): SeenFile {
  const changedNs = BigInt(Date.now() - agoMs) * 1_000_000n;
  const size = mib * MIB;
  const numbers = BigInt64Array.of(1n, BigInt(name.length), BigInt(size), changedNs, changedNs, changedNs);
  return { name, size, isLink: false, stats: new SeenStats(numbers, 0) };
}

function setUp(files: SeenFile[], { segments = 1, refuses = false, isBusy = false } = {}) {
  const calls: string[] = [];
  const idle: number[] = [];
  const pauses: number[] = [];
  const left = new Map<string, number>();
  const store = { evictIdleMs: 0, refused: 0, failed: 0 };
  let cpu = 0;
  const deps: IndexBuilderDeps = {
    store,
    list: () => Promise.resolve(files),
    indexText: (name) => {
      calls.push(name);
      idle.push(store.evictIdleMs);
      cpu += 100;
      if (refuses) store.refused++;
      const file = files.find((each) => each.name === name);
      if (!file) return Promise.reject(new LogError('LOG_FILE_NOT_FOUND', 'gone'));
      const rest = (left.get(name) ?? segments) - 1;
      left.set(name, rest);
      const isDone = rest <= 0;
      if (isDone) left.delete(name);
      const stamp = seenStamp(file.stats);
      return Promise.resolve({ stamp, isDone, built: 1, renewed: 0, readBytes: 1, busyMs: 100 });
    },
    cpuMs: () => cpu,
    pause: (ms) => {
      pauses.push(ms);
      return Promise.resolve();
    },
  };
  const builder = new IndexBuilder(deps);
  const run = async (abort = new AbortController()) => {
    calls.length = 0;
    await builder.run(abort.signal, { isBusy });
    return [...calls];
  };
  return { builder, run, calls, idle, pauses, deps, store };
}

describe('in the background', () => {
  test('files are indexed that were searched, then the newest first, and none again', async () => {
    const files = [
      seen('old.log', { agoMs: 3 * HOUR_MS }),
      seen('new.log'),
      seen('middle.log', { agoMs: 2 * HOUR_MS }),
      seen('small.log', { mib: 1 }),
      seen('packed.log.gz', { mib: 1, agoMs: 4 * HOUR_MS }),
    ];
    const { builder, run, idle } = setUp(files);
    builder.noteScanned('old.log');
    expect(await run()).toEqual(['old.log', 'new.log', 'middle.log', 'packed.log.gz']);
    // What was searched may take the place of more.
    expect(idle).toEqual([HOUR_MS, 24 * HOUR_MS, 24 * HOUR_MS, 24 * HOUR_MS]);
    expect(await run()).toEqual([]);
    builder.noteScanned('middle.log');
    expect(await run()).toEqual(['middle.log']);
  });

  test('the pauses are 24 times as long as the work', async () => {
    const { run, pauses } = setUp([seen('a.log')], { segments: 3 });
    expect(await run()).toEqual(['a.log', 'a.log', 'a.log']);
    expect(pauses).toEqual([2400, 2400, 2400]);
  });

  test('a file waits until it has not changed for a minute, and longer each time it changes again', async () => {
    const files = [seen('a.log', { agoMs: 30_000 })];
    const { builder, run } = setUp(files);
    expect(await run()).toEqual([]);
    expect([...builder.unsettled.keys()]).toEqual(['a.log']);
    files[0] = seen('a.log', { agoMs: 70_000 });
    expect(await run()).toEqual(['a.log']);
    expect([...builder.unsettled]).toEqual([]);
    files[0] = seen('a.log', { agoMs: 80_000 });
    expect(await run()).toEqual(['a.log']);
    files[0] = seen('a.log', { agoMs: 90_000 });
    expect(await run()).toEqual([]);
    files[0] = seen('a.log', { agoMs: 11 * 60_000 });
    expect(await run()).toEqual(['a.log']);
    files[0] = seen('a.log', { agoMs: 12 * 60_000 });
    expect(await run()).toEqual([]);
  });

  test('a large file is indexed while it is written, and again once it has grown', async () => {
    const files = [
      seen('a.log', { mib: 64, agoMs: 0 }),
      seen('small.log', { agoMs: 0 }),
      seen('a.gz', { mib: 64, agoMs: 0 }),
    ];
    const { builder, run, deps } = setUp(files, { segments: 2 });
    const { indexText } = deps;
    deps.indexText = async (...call) => ({ ...(await indexText(...call)), stamp: undefined, grownBytes: 80 * MIB });
    expect(await run()).toEqual(['a.log', 'a.log']);
    const grown = Array.from(builder.unsettled, ([name, { grownBytes }]) => [name, grownBytes / MIB]);
    expect(grown.sort()).toEqual([
      ['a.gz', Infinity],
      ['a.log', 80],
      ['small.log', 9],
    ]);
    expect(await run()).toEqual(['a.log', 'a.log']);
    // That it grew is no reason to wait once it is at rest.
    files[0] = seen('a.log', { mib: 64, agoMs: 70_000 });
    expect(await run()).toEqual(['a.log', 'a.log']);
    expect(await run()).toEqual([]);
  });

  test('beside searches, a file that is written and has nothing to index does not stop others', async () => {
    const files = [seen('a.log', { mib: 64, agoMs: 0 }), seen('b.log')];
    const { run, deps } = setUp(files, { isBusy: true });
    const { indexText } = deps;
    deps.indexText = async (name, options) => ({
      ...(await indexText(name, options)),
      ...(name === 'a.log' && { built: 0 }),
    });
    expect(await run()).toEqual(['a.log', 'b.log']);
  });

  test('a file that has no room, or is gone, is left alone', async () => {
    const full = setUp([seen('a.log'), seen('b.log')], { segments: 9, refuses: true });
    expect((await full.run()).sort()).toEqual(['a.log', 'b.log']);
    expect(await full.run()).toEqual([]);
    const files = [seen('a.log')];
    const gone = setUp([]);
    gone.deps.list = () => Promise.resolve(files);
    expect(await gone.run()).toEqual(['a.log']);
    expect(await gone.run()).toEqual([]);
  });

  test('a file whose segment could not be written is tried again, and no other one meanwhile', async () => {
    const { run, deps, store } = setUp([seen('a.log'), seen('b.log')]);
    const { indexText } = deps;
    deps.indexText = (...call) => {
      store.failed++;
      return indexText(...call);
    };
    expect(await run()).toEqual(['a.log']);
    expect(await run()).toEqual(['a.log']);
    deps.indexText = indexText;
    expect(await run()).toEqual(['a.log', 'b.log']);
  });

  test('beside searches, one segment at a time is built, of files that are not compressed', async () => {
    const files = [seen('a.log.gz'), seen('b.log'), seen('c.log', { agoMs: 2 * HOUR_MS })];
    const { run, pauses } = setUp(files, { segments: 2, isBusy: true });
    const steps = [await run(), await run(), await run(), await run(), await run()];
    expect(steps).toEqual([['b.log'], ['b.log'], ['c.log'], ['c.log'], []]);
    expect(pauses).toEqual([]);
  });

  test('it stops when it is told to, and goes on where it was', async () => {
    const { run, deps, calls } = setUp([seen('a.log')], { segments: 3 });
    const abort = new AbortController();
    const { pause } = deps;
    deps.pause = (ms, signal) => {
      if (calls.length === 2) abort.abort();
      signal.throwIfAborted();
      return pause?.(ms, signal) ?? Promise.resolve();
    };
    expect(await run(abort)).toEqual(['a.log', 'a.log']);
    expect(await run()).toEqual(['a.log']);
  });
});
