import {
  appendFileSync,
  closeSync,
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
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import { MemoryTextIndexes } from '../testing/memory-text-indexes.ts';
import { LogWriter, logSpec, type WrittenFamily, writeFamilies } from '../testing/random-logs.ts';
import { type FilterSpec, filterSpec, toFilter } from '../testing/random-queries.ts';
import { BERLIN } from '../testing/random-record.ts';
import { runSearch, searchPages } from '../testing/run-search.ts';
import { readFamilyRecords, type SlowFile, slowSearch } from '../testing/slow-logs.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { RecordFilter, SearchEnd } from '../types.ts';

/** Positions are fractions of a text, in thousandths; files are counted from the oldest. */
type Step =
  | { kind: 'index'; file: number; most: number }
  | { kind: 'overwrite'; file: number; at: number; word: string; restoresTime: boolean }
  | { kind: 'append'; word: string; count: number }
  | { kind: 'cut'; at: number }
  | { kind: 'rotate' }
  | { kind: 'compress'; file: number };

/** The oldest is the large one. */
const file = fc.constantFrom(0, 0, 1);
const at = fc.oneof(fc.nat(1000), fc.constantFrom(0, 990, 1000));
const word = fc.constantFrom('timeout', 'needle in it', '\n', '\n2026-06-01 11:00:00.000\tERROR\ta.go:1\tneedle\n');
const index = fc.record({ kind: fc.constant('index' as const), file, most: fc.constantFrom(1, 9) });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: index },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('overwrite' as const), file, at, word, restoresTime: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('append' as const), word, count: fc.constantFrom(1, 9000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), at }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'rotate' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('compress' as const), file }) },
);

/** Mostly for texts: others do not use the index. */
const textFilter: fc.Arbitrary<FilterSpec> = fc.oneof(
  fc.record({
    terms: fc.constantFrom('needle', 'NEEDLE in', 'nowhere', 'timeout disk', 'a.go:1\tneedle').map((term) => [term]),
    excluded: fc.array(fc.constant('flush'), { maxLength: 1 }),
  }),
  fc.record({
    regex: fc.constantFrom('needle|flush', 'need.e in', '(time|need)(out|le)', 'no(where|body)'),
    caseSensitive: fc.boolean(),
  }),
  fc.record({
    source: fc.constantFrom('broker/runtime.go:172', 'b.ts:33'),
    terms: fc.array(fc.constant('日本'), { maxLength: 1 }),
  }),
  filterSpec,
);

/** The text, some blocks of its first line, made longer, and the text again. */
function inBlocks(text: Buffer): Buffer {
  const line = Buffer.concat([text.subarray(0, text.indexOf(10)), Buffer.from(` ${'.'.repeat(800)}\n`)]);
  return Buffer.concat([text, Buffer.alloc(Math.ceil((2.2 * BLOCK_BYTES) / line.length) * line.length, line), text]);
}

/** A family whose files are changed, and what is in them. */
class ChangingFamily {
  /** The one of some blocks. */
  readonly large: SlowFile;
  readonly family: WrittenFamily;
  readonly #dir: string;

  constructor(dir: string, family: WrittenFamily) {
    this.#dir = dir;
    this.family = family;
    const [large] = family.files;
    if (!large) throw new Error('a family without files');
    large.text = inBlocks(large.text);
    this.large = large;
    writeFamilies(dir, [family]);
  }

  fileAt(number: number): number {
    return number % this.family.files.length;
  }

  apply(step: Exclude<Step, { kind: 'index' }>): void {
    const number = 'file' in step ? this.fileAt(step.file) : this.family.files.length - 1;
    const changed = this.family.files[number];
    if (!changed) return;
    const { text } = changed;
    switch (step.kind) {
      case 'overwrite': {
        const offset = Math.min(
          Math.floor((text.length * step.at) / 1000),
          Math.max(0, text.length - step.word.length),
        );
        const bytes = Buffer.from(step.word).subarray(0, text.length - offset);
        this.#change(
          number,
          Buffer.concat([text.subarray(0, offset), bytes, text.subarray(offset + bytes.length)]),
          step.restoresTime,
          (path) => {
            const fd = openSync(path, 'r+');
            writeSync(fd, bytes, 0, bytes.length, offset);
            closeSync(fd);
          },
        );
        break;
      }
      case 'append': {
        const added = Buffer.from(`2026-06-01 12:00:00.000\tINFO\ta.go:1\t${step.word}\n`.repeat(step.count));
        this.#change(number, Buffer.concat([text, added]), false, (path) => appendFileSync(path, added));
        break;
      }
      case 'cut': {
        const length = Math.max(1, Math.floor((text.length * step.at) / 1000));
        this.#change(number, text.subarray(0, length), false, (path) => truncateSync(path, length));
        break;
      }
      case 'rotate':
        this.#rotate();
        break;
      case 'compress':
        this.#compress(number);
    }
  }

  /** Changes a file in place, and waits until the system clock shows it. */
  #change(number: number, text: Buffer, restoresTime: boolean, change: (path: string) => void): void {
    const changed = this.family.files[number];
    if (!changed) return;
    const path = join(this.#dir, changed.name);
    const { atime, mtime, ctimeMs } = statSync(path);
    if (this.family.gz[number]) writeFileSync(path, gzipSync(text, { level: 1 }));
    else change(path);
    changed.text = text;
    const times = restoresTime ? { atime, mtime } : statSync(path);
    do utimesSync(path, times.atime, times.mtime);
    while (statSync(path).ctimeMs === ctimeMs);
    changed.writtenMs = Number(statSync(path, { bigint: true }).mtimeNs / 1_000_000n);
  }

  /** Gives every file the name of one that is older, and starts a new live one. */
  #rotate(): void {
    const { files, gz, name } = this.family;
    files.forEach((each, number) => {
      const renamed = `${name}.${files.length - number}${gz[number] ? '.gz' : ''}`;
      renameSync(join(this.#dir, each.name), join(this.#dir, renamed));
      each.name = renamed;
    });
    const text = Buffer.from(`2026-06-01 13:00:00.000\tINFO\ta.go:1\tafter ${files.length} rotations\n`);
    writeFileSync(join(this.#dir, name), text);
    const writtenMs = Number(statSync(join(this.#dir, name), { bigint: true }).mtimeNs / 1_000_000n);
    files.push({ name, text, writtenMs });
    gz.push(false);
  }

  #compress(number: number): void {
    const packed = this.family.files[number];
    if (!packed || this.family.gz[number] || number === this.family.files.length - 1) return;
    const path = join(this.#dir, packed.name);
    const { atime, mtime } = statSync(path);
    packed.name = `${packed.name}.gz`;
    writeFileSync(join(this.#dir, packed.name), gzipSync(packed.text, { level: 1 }));
    utimesSync(join(this.#dir, packed.name), atime, mtime);
    rmSync(path);
    packed.writtenMs = Number(statSync(join(this.#dir, packed.name), { bigint: true }).mtimeNs / 1_000_000n);
    this.family.gz[number] = true;
  }
}

/** Compares all queries with the slow reference and with a directory without an index. */
async function expectTruth(logs: LogDir, plain: LogDir, changing: ChangingFamily, wanted: FilterSpec): Promise<void> {
  const { family, large } = changing;
  const { name } = large;
  const records = readFamilyRecords({ name, files: [large] }, BERLIN);
  const filter = toFilter(wanted, records);
  for (const order of ['oldest', 'newest'] as const) {
    const found = await runSearch(logs, { src: [`=${name}`], order, ...filter });
    const { records: expected, end } = await runSearch(plain, { src: [`=${name}`], order, ...filter });
    expectEqual(found.records, expected);
    expectEqual(offsets(found.records), offsets(slowSearch(records, { ...filter, order })));
    expect(coverage(found.end)).toEqual(coverage(end));
    const bytes = ({ scannedBytes, skippedBytes, unreadBytes = 0 }: SearchEnd) =>
      scannedBytes + skippedBytes + unreadBytes;
    if (!filter.minLevel) expect(bytes(found.end)).toBe(bytes(end));
  }
  const pages = await searchPages(logs, { src: [`=${name}`], order: 'newest', ...filter }, [3, 20_000]);
  expectEqual(offsets(pages), offsets(slowSearch(records, { ...filter, order: 'newest' })));
  const [counted, expected] = await Promise.all(
    [logs, plain].map((each) => countAll(each, { ...filter, family: family.name })),
  );
  expect(counted).toEqual(expected);
}

function offsets(records: readonly { offset: number }[]): number[] {
  return records.map(({ offset }) => offset);
}

/** Much faster than the comparison that can also show differences. */
function expectEqual(found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected);
}

function coverage({ coveredFromMs, coveredToMs, reason, records, problems }: Omit<SearchEnd, 'type' | 'cursor'>) {
  return { coveredFromMs, coveredToMs, reason, records, problems };
}

async function countAll(logs: LogDir, filter: RecordFilter & { family: string }): Promise<unknown> {
  const { buckets, untimed, end } = await logs.histogram({ ...filter, buckets: 5 });
  const { groups } = await logs.digest({ ...filter, limit: 100 });
  const { values, missing } = await logs.top({ ...filter, by: 'source', limit: 50 });
  const { fields } = await logs.fields({ ...filter, limit: 50 });
  return { buckets, untimed, coverage: coverage(end), groups, values, missing, fields };
}

describe('a text index', () => {
  // Files look as if they had not changed for an hour.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('changes no answer, however the files change after it was built', async () => {
    const dir = join(tempDir(), 'logs');
    const store = new MemoryTextIndexes();
    const logs = openDir(dir, { zone: BERLIN, textIndex: store });
    const plain = openDir(dir, { zone: BERLIN });
    const writer = new LogWriter();
    let made = 0;
    const steps = fc.array(fc.tuple(step, textFilter), { minLength: 2, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(logSpec, textFilter, steps, async (spec, first, changes) => {
        const changing = new ChangingFamily(dir, writer.family(`log${made++}`, spec));
        for (const { name } of changing.family.files) await logs.indexText(name);
        await expectTruth(logs, plain, changing, first);
        for (const [next, wanted] of changes) {
          const name = next.kind === 'index' && changing.family.files[changing.fileAt(next.file)]?.name;
          if (next.kind !== 'index') changing.apply(next);
          else if (name) await logs.indexText(name, { most: next.most });
          await expectTruth(logs, plain, changing, wanted);
        }
        expect(store.opens).toBe(0);
        expect(store.drops).toBe(0);
      }),
      { numRuns: runs(2), endOnFailure: true },
    );
  });
});
