import { readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { GRAM_ROWS, makeNeedle, ScanKernel } from '../kernel/scan-kernel.ts';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import type { KeptSegment } from '../scan/index-jobs.ts';
import { gramRows } from '../scan/tasks/probe.ts';
import { MemoryTextIndexes } from '../testing/memory-text-indexes.ts';
import { LogWriter, logSpec, writeFamilies } from '../testing/random-logs.ts';
import { BERLIN } from '../testing/random-record.ts';
import { runSearch } from '../testing/run-search.ts';
import { readFamilyRecords } from '../testing/slow-logs.ts';
import { openDir } from '../testing/temp-dir.ts';

/** The rows of a text, one gram at a time. */
function slowRows(text: Buffer): Set<number> {
  const lower = Buffer.from(
    text.toString('latin1').replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
    'latin1',
  );
  const rows = new Set<number>();
  for (let at = 0; at + 4 <= lower.length; at++) rows.add(Math.imul(lower.readUInt32LE(at), 0x9e3779b1) >>> 17);
  return rows;
}

/** The rows of a column of a kept segment. */
function columnRows(fd: number, { at, width }: KeptSegment, column: number): Set<number> {
  const rows = Buffer.alloc((GRAM_ROWS * width) / 8);
  readSync(fd, rows, 0, rows.length, at);
  const found = new Set<number>();
  for (let row = 0; row < GRAM_ROWS; row++) {
    if (((rows[(row * width) / 8 + (column >> 3)] ?? 0) >> (column & 7)) & 1) found.add(row);
  }
  return found;
}

describe('the kernel', () => {
  const kernel = new ScanKernel();
  const filledRows = (bit: number) => {
    const rows: number[] = [];
    for (let row = 0; row < GRAM_ROWS; row++) if ((kernel.gramColumns[row] ?? 0) & bit) rows.push(row);
    return rows;
  };

  test('marks the rows of all grams of a text, and no others', () => {
    const text = fc.oneof(
      fc.uint8Array({ maxLength: 90 }).map((bytes) => Buffer.from(bytes)),
      fc.string({ maxLength: 60 }).map((each) => Buffer.from(each)),
      fc.constantFrom('', 'abc', 'ABCD', '@[`{AZaz', 'ÄÖ', 'Zz09'.repeat(20)).map((each) => Buffer.from(each)),
    );
    fc.assert(
      fc.property(text, text, fc.nat(70), (first, second, lead) => {
        kernel.gramColumns.fill(0);
        for (const [bytes, bit] of [
          [first, 4],
          [second, 128],
        ] as const) {
          kernel.text.fill('Between', 0, 300);
          bytes.copy(kernel.text, lead);
          kernel.addGrams(lead, lead + bytes.length, bit);
          expect(filledRows(bit)).toEqual([...slowRows(bytes)].sort((a, b) => a - b));
        }
        expect(filledRows(4)).toEqual([...slowRows(first)].sort((a, b) => a - b));
      }),
      { numRuns: runs(30) },
    );
  });

  test('and a needle of either case have the same rows', () => {
    const needles = ['Connection', 'CONNECTION'].map((text) => makeNeedle(text, { caseSensitive: true }));
    const folded = makeNeedle('connectioN', { caseSensitive: false });
    const expected = [...slowRows(Buffer.from('connection'))].sort();
    for (const needle of [...needles, folded]) expect(gramRows(needle).sort()).toEqual(expected);
    expect(gramRows(makeNeedle('abc', { caseSensitive: true }))).toEqual([]);
  });
});

describe('a column', () => {
  // Files look as if they had not changed for an hour.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('has the grams of all records that start in its block', async () => {
    const dir = join(tempDir(), 'logs');
    const writer = new LogWriter();
    await fc.assert(
      fc.asyncProperty(logSpec, async (spec) => {
        const store = new MemoryTextIndexes();
        const logs = openDir(dir, { zone: BERLIN, textIndex: store });
        const family = writer.family('log', spec);
        writeFamilies(dir, [family]);
        for (const [index, file] of family.files.entries()) {
          const before = store.segments.length;
          const { built, isDone, renewed } = await logs.indexText(file.name);
          expect({ built, isDone, renewed }).toEqual({
            built: store.segments.length - before,
            isDone: true,
            renewed: 0,
          });
          const segment = store.segments[before];
          // At most the last record's block, and the one before it, can still change.
          expect(segment?.blocks ?? 0).toBeGreaterThanOrEqual(Math.floor(file.text.length / BLOCK_BYTES) - 2);
          const records = readFamilyRecords({ name: '', files: family.files.slice(index, index + 1) }, BERLIN);
          for (let block = 0; segment && block < segment.blocks; block++) {
            const starting = records.filter(({ offset }) => Math.floor(offset / BLOCK_BYTES) === block);
            if (starting.length === 0) continue;
            const column = columnRows(store.fd, segment, block);
            // Holes are read as newlines.
            if (column.size === GRAM_ROWS) continue;
            const text = file.text.subarray(starting[0]?.offset, starting.at(-1)?.end);
            expect([...slowRows(text)].filter((row) => !column.has(row))).toEqual([]);
          }
        }
        expect(store.opens).toBe(0);
      }),
      { numRuns: runs(4) },
    );
  });

  test('of a block with a hole has all rows: every search reports the hole', async () => {
    const dir = tempDir();
    const lines = (count: number) => '2026-06-01 10:00:00.000\tINFO\ta.go:1\tplain\n'.repeat(count);
    writeFileSync(
      join(dir, 'a.log'),
      Buffer.concat([Buffer.from(lines(9000)), Buffer.alloc(5000), Buffer.from(lines(9000))]),
    );
    const store = new MemoryTextIndexes();
    const logs = openDir(dir, { zone: BERLIN, textIndex: store });
    await logs.indexText('a.log');
    const { end } = await runSearch(logs, { src: ['=a.log'], terms: ['nowhere'] });
    expect(end.problems).toMatchObject([{ code: 'NUL_BYTES' }]);
    expect(end.skippedBytes).toBe(BLOCK_BYTES);
  });
});
