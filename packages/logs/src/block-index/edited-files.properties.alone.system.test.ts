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
import { gzipSync } from 'node:zlib';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { LogDir } from '../log-dir.ts';
import { createZone } from '../parse/zone.ts';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import { expectSame } from '../testing/random-dir.ts';
import { collect, readTail } from '../testing/read-bytes.ts';
import { runSearch } from '../testing/run-search.ts';
import { SHARED_THREADS } from '../testing/shared-threads.ts';
import { slowDigest, slowHistogram } from '../testing/slow-counts.ts';
import { readFamilyRecords, type SlowRecord, slowSearch } from '../testing/slow-logs.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { RecordFilter } from '../types.ts';

const UTC = createZone('UTC');
const START_MS = Date.parse('2026-06-01T10:00:00.000Z');
const LEVELS = ['INFO', 'WARN', 'INFO', 'INFO', 'ERRO'] as const;

type Style = 'contract' | 'glog';

function line(style: Style, index: number, word: string): string {
  const [day = '', time = ''] = new Date(START_MS + index * 50).toISOString().slice(0, -1).split('T');
  // Both levels have the same length, so that one can overwrite the other.
  if (style === 'glog') return `${index % 7 === 0 ? 'W' : 'I'}0601 ${time}000 7 a.cc:1] ${word} ${'.'.repeat(60)}\n`;
  const level = index % 11 === 0 ? LEVELS[index % LEVELS.length] : 'INFO';
  return `${day} ${time}\t${level}\ta.go:${index % 3}\t${word} ${'.'.repeat(60)}\n`;
}

/** Two blocks and a bit. */
function renderText(style: Style, word: string): Buffer {
  let text = '';
  for (let index = 0; text.length < 2.2 * BLOCK_BYTES; index++) text += line(style, index, word);
  return Buffer.from(text);
}

/** Positions are fractions of the text, in thousandths. */
type Edit =
  /** Overwrites bytes with the same number of others: a level, a time, anything. */
  | { kind: 'overwrite'; at: number; bytes: string; count: number }
  | { kind: 'append'; lines: number; word: string }
  | { kind: 'cut'; at: number }
  /** Truncated and rewritten with the same inode, with the same first lines. */
  | { kind: 'rewrite'; at: number; word: string }
  /** Another file under the same name. */
  | { kind: 'replace'; word: string }
  | { kind: 'touch'; byDays: number };

const at = fc.oneof(fc.nat(1000), fc.constantFrom(0, 3, 60, 1000));
const word = fc.constantFrom('one', 'two', 'six');
const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('overwrite' as const),
      at,
      bytes: fc.constantFrom('\tFATA', '\tERROR\t', '2026-06-01 23:', '\n', 'E0601', 'x', '{"ts":1,"level":"error"}\n'),
      count: fc.constantFrom(1, 1, 2, 400),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('append' as const), lines: fc.constantFrom(1, 30, 5000), word }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rewrite' as const), at, word }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace' as const), word }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('touch' as const), byDays: fc.constantFrom(-400, 1, 200) }) },
);

interface Step {
  edits: Edit[];
  /** The modification time is restored. */
  restoresTime: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  edits: fc.array(edit, { minLength: 1, maxLength: 2 }),
  restoresTime: fc.boolean(),
});

/** A file and its content. */
class EditedFile {
  readonly name: string;
  readonly path: string;
  readonly #style: Style;
  readonly #packed: boolean;
  text: Buffer;

  constructor(dir: string, { name, style, packed }: { name: string; style: Style; packed: boolean }) {
    this.name = packed ? `${name}.gz` : name;
    this.path = join(dir, this.name);
    this.#style = style;
    this.#packed = packed;
    this.text = renderText(style, 'one');
    writeFileSync(this.path, this.#onDisk());
  }

  apply({ edits, restoresTime }: Step): void {
    const { atime, mtime } = statSync(this.path);
    for (const edit of edits) this.#apply(edit);
    if (restoresTime) utimesSync(this.path, atime, mtime);
  }

  /** Writes the same bytes until the system clock has advanced far enough to show it. */
  waitForNewStamp(beforeNs: bigint): void {
    const { atime, mtime } = statSync(this.path);
    while (statSync(this.path, { bigint: true }).ctimeNs === beforeNs) utimesSync(this.path, atime, mtime);
  }

  #apply(edit: Edit): void {
    switch (edit.kind) {
      case 'overwrite':
        this.#overwrite(this.#offset(edit.at), Buffer.from(edit.bytes.repeat(edit.count)));
        break;
      case 'append': {
        const added = Buffer.from(line(this.#style, 100_000, edit.word).repeat(edit.lines));
        this.text = Buffer.concat([this.text, added]);
        if (this.#packed) writeFileSync(this.path, this.#onDisk());
        else appendFileSync(this.path, added);
        break;
      }
      case 'cut':
        this.text = this.text.subarray(0, Math.max(1, this.#offset(edit.at)));
        if (this.#packed) writeFileSync(this.path, this.#onDisk());
        else truncateSync(this.path, this.text.length);
        break;
      case 'rewrite': {
        const prefix = Math.max(1, this.#offset(edit.at));
        const other = renderText(this.#style, edit.word);
        this.text = Buffer.concat([this.text.subarray(0, prefix), other.subarray(prefix)]);
        writeFileSync(this.path, this.#onDisk());
        break;
      }
      case 'replace':
        this.text = renderText(this.#style, edit.word);
        writeFileSync(`${this.path}.new`, this.#onDisk());
        renameSync(`${this.path}.new`, this.path);
        break;
      case 'touch': {
        const writtenMs = START_MS + edit.byDays * 86_400_000;
        utimesSync(this.path, writtenMs / 1000, writtenMs / 1000);
      }
    }
  }

  /** Only these bytes, without truncating the file. An archive is overwritten as a whole. */
  #overwrite(offset: number, bytes: Buffer): void {
    const from = Math.min(offset, Math.max(0, this.text.length - bytes.length));
    const written = bytes.subarray(0, this.text.length - from);
    this.text = Buffer.concat([this.text.subarray(0, from), written, this.text.subarray(from + written.length)]);
    if (this.#packed) {
      writeFileSync(this.path, this.#onDisk());
      return;
    }
    const fd = openSync(this.path, 'r+');
    writeSync(fd, written, 0, written.length, from);
    closeSync(fd);
  }

  #offset(share: number): number {
    return Math.floor((this.text.length * share) / 1000);
  }

  /** Archives are stored, not deflated: texts of the same length have the same size on disk. */
  #onDisk(): Buffer {
    return this.#packed ? gzipSync(this.text, { level: 0 }) : this.text;
  }

  /** The same, read by the slow reference. */
  records(): SlowRecord[] {
    const writtenMs = Number(statSync(this.path, { bigint: true }).mtimeNs / 1_000_000n);
    return readFamilyRecords({ name: this.name, files: [{ name: this.name, text: this.text, writtenMs }] }, UTC);
  }
}

async function expectTruth(dir: string, logs: LogDir, edited: EditedFile): Promise<void> {
  const { name: file, text } = edited;
  const records = edited.records();
  const times = records.map(({ timeMs }) => timeMs).filter((timeMs) => !Number.isNaN(timeMs));
  const middleMs = times[Math.floor(times.length / 2)] ?? START_MS;
  const filters: RecordFilter[] = [
    { minLevel: 'ERROR' },
    { minLevel: 'WARN' },
    { fromMs: middleMs, toMs: middleMs + 5000 },
  ];
  for (const filter of filters) {
    for (const order of ['oldest', 'newest'] as const) {
      const { records: found } = await runSearch(logs, { src: [`=${file}`], order, limit: 50, ...filter });
      expectSame(found, slowSearch(records, { ...filter, order }).slice(0, 50));
    }
    const { bucketMs, buckets, untimed } = await logs.histogram({ src: [`=${file}`], ...filter, buckets: 5 });
    expect({ buckets, untimed }).toEqual(slowHistogram(records, filter, bucketMs));
  }
  const whole = await logs.histogram({ src: [`=${file}`], bucketMs: 86_400_000, buckets: 5 });
  const expected = slowHistogram(records, {}, 86_400_000);
  expect({ buckets: whole.buckets, untimed: whole.untimed }).toEqual(expected);
  const groupKeys = (all: readonly { level: unknown; source: unknown; count: number }[]) =>
    all.map(({ level, source, count }) => `${level} ${source} ${count}`).sort();
  for (const filter of [{}, { minLevel: 'WARN' as const }]) {
    const { groups } = await logs.digest({ src: [`=${file}`], limit: 1000, ...filter });
    expect(groupKeys(groups)).toEqual(groupKeys(slowDigest(records, filter)));
  }
  await expectSameAsCold(dir, logs, file);
  const tail = await readTail(logs, file, 300);
  expect(text.subarray(-tail.length).equals(tail)).toBe(true);
}

/** Compares with the reference and with a directory that has never seen the file. */
async function expectSameAsCold(dir: string, logs: LogDir, file: string): Promise<void> {
  const cold = new LogDir(dir, { zone: UTC, threads: SHARED_THREADS });
  try {
    const readView = async (opened: LogDir) => {
      const details = (await opened.details()).find(({ name }) => name === file);
      const { lastTimeMs: _late, ...rest } = details ?? {};
      return details?.compressed ? rest : details;
    };
    expect(await readView(logs)).toEqual(await readView(cold));
  } finally {
    await cold.close();
  }
}

afterEach(() => {
  vi.useRealTimers();
});

describe.each([
  { when: 'just now', laterMs: 0 },
  { when: 'an hour ago', laterMs: 3_600_000 },
])('a file that was edited $when', ({ laterMs }) => {
  test('is queried in its current state, whatever was learned from it before', async () => {
    const dir = join(tempDir());
    const logs = openDir(dir, { zone: UTC });
    let made = 0;
    const cases = fc.record({
      style: fc.constantFrom<Style>('contract', 'contract', 'glog'),
      packed: fc.constantFrom(false, false, true),
      steps: fc.array(step, { minLength: 1, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ style, packed, steps }) => {
        const edited = new EditedFile(dir, { name: `f${made++}.log`, style, packed });
        // Only the date differs: files look as if they had not changed since.
        if (laterMs > 0) vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + laterMs });
        await expectTruth(dir, logs, edited);
        for (const next of steps) {
          const { ctimeNs } = statSync(edited.path, { bigint: true });
          edited.apply(next);
          if (laterMs > 0) edited.waitForNewStamp(ctimeNs);
          await expectTruth(dir, logs, edited);
        }
        vi.useRealTimers();
        rmSync(edited.path);
      }),
      { numRuns: runs(1) },
    );
  });
});

describe('an edit in place', () => {
  const LINE = '2026-06-01 10:00:00.000\tDEBUG\ta.go:1\ta line of usual length\n';

  test('that keeps inode, size and times of a file is noticed by every query', async () => {
    const dir = tempDir();
    const path = join(dir, 'a.log');
    writeFileSync(path, LINE.repeat(20_000));
    const logs = openDir(dir, { zone: UTC });
    const errors = () => runSearch(logs, { src: ['=a.log'], minLevel: 'ERROR' });
    expect((await errors()).records).toEqual([]);
    expect((await errors()).records).toEqual([]);
    await logs.histogram({ src: ['=a.log'], buckets: 1 });
    await logs.digest({ src: ['=a.log'], limit: 9 });
    const { atime, mtime } = statSync(path);
    const fd = openSync(path, 'r+');
    writeSync(fd, 'ERROR', 5000 * LINE.length + LINE.indexOf('DEBUG'));
    closeSync(fd);
    utimesSync(path, atime, mtime);
    expect((await errors()).records).toMatchObject([{ offset: 5000 * LINE.length, level: 'ERROR' }]);
    const { buckets } = await logs.histogram({ src: ['=a.log'], buckets: 1 });
    expect(buckets).toMatchObject([{ counts: { ERROR: 1, DEBUG: 19_999 } }]);
    const { groups } = await logs.digest({ src: ['=a.log'], limit: 9, minLevel: 'ERROR' });
    expect(groups).toMatchObject([{ level: 'ERROR', count: 1 }]);
  });

  test('changes the entity tag, even if the modification time is set back', async () => {
    const dir = tempDir();
    const path = join(dir, 'a.log');
    writeFileSync(path, LINE);
    // To a whole second, which can be set again exactly.
    utimesSync(path, START_MS / 1000, START_MS / 1000);
    const logs = openDir(dir, { zone: UTC });
    const read = async () => {
      const log = await logs.open('a.log');
      const text = (await collect(log.read(0, log.sizeBytes))).toString();
      await log.close();
      return { text, etag: log.etag };
    };
    const before = await read();
    const { ctimeNs } = statSync(path, { bigint: true });
    while (statSync(path, { bigint: true }).ctimeNs === ctimeNs) {
      writeFileSync(path, LINE.replace('DEBUG', 'ERROR'));
      utimesSync(path, START_MS / 1000, START_MS / 1000);
    }
    const after = await read();
    expect(after.text).toContain('ERROR');
    expect(after.etag).not.toBe(before.etag);
  });
});
