import {
  appendFileSync,
  closeSync,
  copyFileSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import { MemoryTextIndexes } from '../testing/memory-text-indexes.ts';
import { BERLIN } from '../testing/random-record.ts';
import { runSearch } from '../testing/run-search.ts';
import { readFamilyRecords, type SlowRecord, slowSearch } from '../testing/slow-logs.ts';
import { openDir } from '../testing/temp-dir.ts';

/** What is indexed may be as new as this test can make it, and is added two blocks at a time, or eight. */
const LIMITS = { agedMs: 60_000, partBlocks: 2, wholeBlocks: 8, now: () => nowMs };
const MINUTE_MS = 61_000;

/** Blocks at the end that are not indexed: those that may change, and those that are not worth it yet. */
const OPEN_BLOCKS = 4;

/** What is read besides: the sample, the block with the text, and the ends of the log. */
const FEW_BYTES = (OPEN_BLOCKS + 4) * BLOCK_BYTES;

const NEEDLE = 'Rare Quokka seen';

let nowMs = Date.now();

// The clock of the file system cannot be set, but what is written is dated by this one.
beforeEach(() => {
  nowMs = Date.now() + 3_600_000;
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A line, and how many bytes of such lines: every line differs from all others. */
function lines(bytes: number, from: number, text = 'nothing of interest'): string {
  let all = '';
  for (let number = from; all.length < bytes; number++)
    all += `2026-06-01 10:00:00.000\tINFO\ta.go:1\t${text} in ${String(number).padStart(9, '0')} ${'.'.repeat(160)}\n`;
  return all;
}

function needle(): string {
  return `2026-06-01 10:00:00.000\tWARN\tz.go:9\t${NEEDLE}\n`;
}

/** A log that is being written, and a node that indexes it. */
class LiveLog {
  readonly dir = tempDir();
  readonly path = join(this.dir, 'a.log');
  readonly store = new MemoryTextIndexes();
  logs: LogDir = this.#open();
  text: Buffer = Buffer.alloc(0);
  #count = 0;
  /** What is in the text, which takes longer to find out than everything else. */
  #read: { text: Buffer; records: SlowRecord[] } = { text: this.text, records: [] };

  #open(): LogDir {
    return openDir(this.dir, { zone: BERLIN, textIndex: this.store, live: LIMITS });
  }

  restart(): void {
    this.logs = this.#open();
  }

  get sizeBytes(): number {
    return this.text.length;
  }

  append(blocks: number, text?: string): void {
    const added = lines(blocks * BLOCK_BYTES, this.#count, text);
    this.#count += 100_000;
    this.appendText(added);
  }

  appendText(added: string): void {
    appendFileSync(this.path, added);
    this.text = Buffer.concat([this.text, Buffer.from(added)]);
    this.touch();
  }

  /** What is written is dated by the clock of the test: later than what was written before. */
  touch(): void {
    nowMs += 1000;
    vi.setSystemTime(nowMs);
    const { ctimeNs } = statSync(this.path, { bigint: true });
    do utimesSync(this.path, nowMs / 1000, nowMs / 1000);
    while (statSync(this.path, { bigint: true }).ctimeNs === ctimeNs);
  }

  overwrite(share: number, text: string): void {
    const offset = Math.floor((this.sizeBytes - text.length) * share);
    const fd = openSync(this.path, 'r+');
    writeSync(fd, text, offset);
    closeSync(fd);
    this.text = Buffer.concat([
      this.text.subarray(0, offset),
      Buffer.from(text),
      this.text.subarray(offset + text.length),
    ]);
    this.touch();
  }

  truncate(share: number): void {
    this.text = this.text.subarray(0, Math.floor(this.sizeBytes * share));
    truncateSync(this.path, this.sizeBytes);
    this.touch();
  }

  /** The same inode with another text. */
  rewrite(text: Buffer): void {
    writeFileSync(this.path, text);
    this.text = text;
    this.touch();
  }

  pass(ms = MINUTE_MS): void {
    nowMs += ms;
    vi.setSystemTime(nowMs);
  }

  /** What is there now is indexed once it is old enough, and something was added. */
  async index() {
    await this.logs.indexText('a.log');
    this.pass();
    this.appendText(lines(1, this.#count++));
    return this.logs.indexText('a.log');
  }

  async find(term = NEEDLE, logs = this.logs) {
    const { records, end } = await runSearch(logs, { src: ['=a.log'], terms: [term] });
    expect(end.scannedBytes + end.skippedBytes).toBe(this.sizeBytes);
    expect(end.problems ?? []).toEqual([]);
    return { found: records.length, isFast: end.scannedBytes <= FEW_BYTES };
  }

  /** The same as without an index, and what an obvious program finds. */
  async expectTruth(term = NEEDLE): Promise<void> {
    const files = [{ name: 'a.log', text: this.text, writtenMs: nowMs }];
    if (this.#read.text !== this.text)
      this.#read = { text: this.text, records: readFamilyRecords({ name: 'a.log', files }, BERLIN) };
    const { records } = this.#read;
    for (const order of ['oldest', 'newest'] as const) {
      const { records: found } = await runSearch(this.logs, { src: ['=a.log'], terms: [term], order });
      const expected = slowSearch(records, { terms: [term], order });
      expect(found.map(({ offset }) => offset)).toEqual(expected.map(({ offset }) => offset));
    }
  }
}

/** A log of twelve blocks with a rare text, indexed while it is written. */
async function setUp(): Promise<LiveLog> {
  const live = new LiveLog();
  live.append(6);
  live.appendText(needle());
  live.append(6);
  expect(await live.index()).toMatchObject({ stamp: undefined, isDone: true, built: 1 });
  return live;
}

describe('a log that is being written', () => {
  test('is searched for a rare text without reading what is indexed of it, also after a restart', async () => {
    const live = await setUp();
    expect(await live.find()).toEqual({ found: 1, isFast: true });
    expect(await live.find('no such text')).toEqual({ found: 0, isFast: true });
    live.appendText(needle());
    expect(await live.find()).toEqual({ found: 2, isFast: true });
    live.restart();
    live.append(0.1);
    expect(await live.find()).toEqual({ found: 2, isFast: true });
  });

  test('is not indexed before it is a minute old, and further when it has grown', async () => {
    const live = new LiveLog();
    live.append(12);
    expect(await live.logs.indexText('a.log')).toMatchObject({ isDone: true, built: 0 });
    live.append(1);
    expect(await live.logs.indexText('a.log')).toMatchObject({ isDone: true, built: 0 });
    expect(await live.index()).toMatchObject({ built: 1 });
    expect(live.store.segments.map(({ blocks }) => blocks)).toEqual([8]);
    expect(await live.index()).toMatchObject({ built: 0, renewed: 0, readBytes: 0 });
    live.append(3);
    expect(await live.index()).toMatchObject({ built: 0 });
    expect(await live.index()).toMatchObject({ built: 2 });
    expect(live.store.segments.map(({ blocks }) => blocks)).toEqual([8, 2, 2]);
  });

  test('keeps its index when it is rotated and compressed', async () => {
    const live = await setUp();
    live.append(0.1);
    renameSync(live.path, `${live.path}.1`);
    writeFileSync(live.path, lines(1000, 0));
    live.pass(3_600_000);
    const rotated = async () => {
      const { records, end } = await runSearch(live.logs, { terms: [NEEDLE] });
      return [records.length, end.scannedBytes <= FEW_BYTES];
    };
    expect(await rotated()).toEqual([1, true]);
    // Now that it has an end, what was left out is added.
    expect(await live.logs.indexText('a.log.1')).toMatchObject({ built: 1 });
    writeFileSync(`${live.path}.1.gz`, gzipSync(live.text));
    rmSync(`${live.path}.1`);
    live.pass(3_600_000);
    expect(await live.logs.indexText('a.log.1.gz')).toMatchObject({ built: 0, renewed: 2 });
    expect(await rotated()).toEqual([1, true]);
  });

  test('is compared again after questions that relied on what is known of it, once a minute at most', async () => {
    const live = await setUp();
    expect(await live.logs.indexText('a.log')).toMatchObject({ renewed: 0 });
    await live.find();
    expect(await live.logs.indexText('a.log')).toMatchObject({ renewed: 0 });
    live.pass();
    await live.find();
    live.append(0.1);
    expect(await live.logs.indexText('a.log')).toMatchObject({ built: 0, renewed: 1 });
    expect(await live.logs.indexText('a.log')).toMatchObject({ renewed: 0 });
  });

  test('is found to have been edited before it grew, by then at the latest', async () => {
    const live = await setUp();
    await live.find('warm');
    live.overwrite(0.3, 'platypus');
    live.append(0.1);
    live.pass();
    await live.find();
    live.append(0.1);
    expect(await live.logs.indexText('a.log')).toMatchObject({ built: 1 });
    expect(await live.find('platypus')).toEqual({ found: 1, isFast: true });
  });
});

describe('what is known of a log is not relied on', () => {
  const changes: Record<string, (live: LiveLog) => unknown> = {
    'if it was edited, and has the same size': (live) => live.overwrite(0.3, 'platypus'),
    'if it was edited, was looked at, and has grown since': async (live) => {
      live.overwrite(0.3, 'platypus');
      await live.find('nothing');
      live.append(0.5);
    },
    'if it was rewritten with the same size': (live) => {
      live.rewrite(Buffer.from(lines(live.sizeBytes, 5_000_000, 'platypus').slice(0, live.sizeBytes)));
    },
    'if it was truncated and has grown beyond its size': (live) => {
      live.truncate(0);
      live.append(14, 'platypus and others');
    },
    'if it was truncated in the middle and has grown beyond its size': (live) => {
      live.truncate(0.5);
      live.append(9, 'platypus and others');
    },
    'if it begins as before, and something was inserted': (live) => {
      live.rewrite(
        Buffer.concat([live.text.subarray(0, 70_000), Buffer.from('\nplatypus\n'), live.text.subarray(70_000)]),
      );
    },
    'if it was truncated': (live) => {
      live.truncate(0.5);
      live.appendText('platypus\n');
    },
    'if another file has its name and its size': (live) => {
      const text = lines(live.sizeBytes, 7_000_000, 'platypus').slice(0, live.sizeBytes);
      copyFileSync(live.path, `${live.path}.bak`);
      rmSync(live.path);
      live.rewrite(Buffer.from(text));
    },
    'if its time was set back': (live) => {
      const { atime, mtime } = statSync(live.path);
      live.overwrite(0.3, 'platypus');
      utimesSync(live.path, atime, mtime);
    },
  };

  test.each(Object.entries(changes))('%s', async (_, change) => {
    for (const isRestarted of [false, true]) {
      const live = await setUp();
      await live.find('warm');
      await change(live);
      if (isRestarted) live.restart();
      await live.expectTruth('platypus');
      await live.expectTruth();
      // Until it was compared: then it is fast again.
      await live.index();
      await live.expectTruth('platypus');
    }
  });
});

type Step =
  | { kind: 'append'; blocks: number; hasNeedle: boolean }
  | { kind: 'truncate' | 'rewrite' | 'overwrite'; share: number; blocks: number }
  | { kind: 'rotate' | 'index' | 'restart' };

const share = fc.constantFrom(0, 0.2, 0.5, 0.9, 1);
const blocks = fc.constantFrom(0, 0, 0.1, 3, 9);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      blocks: fc.constantFrom(0.1, 1, 3),
      hasNeedle: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('truncate' as const, 'rewrite' as const, 'overwrite' as const),
      share,
      blocks,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('rotate' as const, 'index' as const, 'index' as const, 'restart' as const),
    }),
  },
);

/** What happens to a log between two questions. An edit in place is seen before the log grows: see live-texts.ts. */
async function apply(live: LiveLog, step: Step): Promise<void> {
  switch (step.kind) {
    case 'append':
      if (step.hasNeedle) live.appendText(needle());
      live.append(step.blocks);
      break;
    case 'truncate':
      live.truncate(step.share);
      if (step.blocks > 0) live.append(step.blocks, NEEDLE);
      break;
    case 'overwrite':
      live.overwrite(step.share, NEEDLE);
      break;
    case 'rewrite': {
      const kept = live.text.subarray(0, Math.floor(live.sizeBytes * step.share));
      const rest = live.sizeBytes - kept.length + Math.floor(step.blocks * BLOCK_BYTES);
      live.rewrite(Buffer.concat([kept, Buffer.from(lines(rest, 3_000_000, NEEDLE).slice(0, rest))]));
      break;
    }
    case 'rotate':
      renameSync(live.path, `${live.path}.1`);
      live.text = Buffer.alloc(0);
      live.append(7);
      break;
    case 'index':
      await live.index();
      break;
    case 'restart':
      live.restart();
  }
}

test('whatever happens to a log between questions, no match is lost and none invented', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 6 }), async (steps) => {
      const live = await setUp();
      for (const each of steps) {
        await apply(live, each);
        await live.expectTruth();
      }
      expect(live.store.opens).toBe(0);
    }),
    { numRuns: runs(4), endOnFailure: true },
  );
});
