import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { createZone } from '../parse/zone.ts';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import { expectSame } from '../testing/random-dir.ts';
import { runSearch, searchPages } from '../testing/run-search.ts';
import { readFamilyRecords, type SlowRecord, slowSearch } from '../testing/slow-logs.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { RecordFilter } from '../types.ts';

const UTC = createZone('UTC');
const START_MS = Date.parse('2026-06-01T10:00:00.000Z');
const HOUR_MS = 3_600_000;

/** Beyond what records may be out of order by. */
const SHIFT_MS = 200_000;

/** More than is scanned whole instead of seeking in it. */
const TEXT_BYTES = 4.4 * BLOCK_BYTES;

/** What is unusual of a record: lines that follow it, and how long it is. A window of single records has 32 KiB. */
const errorSpec = fc.record({
  level: fc.constantFrom('ERROR', 'ERROR', 'ERRO', 'FATAL'),
  rest: fc.constantFrom('', '', '\tat a.go:1\n\tat b.go:2\n', '\n\n  cause\n', '2026-06-01 is no head\n'),
  length: fc.constantFrom(40, 40, 40, 3000, 20_000, 40_000),
});

const logSpec = fc.record({
  /** Where errors are, as fractions of the text, and how many in a row. */
  bursts: fc.array(fc.record({ at: fc.nat(999), count: fc.constantFrom(1, 1, 2, 30, 150), error: errorSpec }), {
    minLength: 1,
    maxLength: 8,
  }),
  stepMs: fc.constantFrom(0, 7, 100),
  hasFraction: fc.boolean(),
  endsWithNewline: fc.boolean(),
});

type LogSpec = typeof logSpec extends fc.Arbitrary<infer T> ? T : never;

/** `shiftMs` moves all times, and keeps all lengths. */
function renderText({ bursts, stepMs, hasFraction, endsWithNewline }: LogSpec, shiftMs = 0): Buffer {
  const waiting = [...bursts].sort((a, b) => a.at - b.at);
  const lines: string[] = [];
  let [bytes, index] = [0, 0];
  const add = (level: string, message: string, rest = '') => {
    const time = new Date(START_MS + shiftMs + index++ * stepMs).toISOString().replace('T', ' ');
    const line = `${time.slice(0, hasFraction ? -1 : -5)}\t${level}\ta.go:${index % 3}\t${message} ${index}\n${rest}`;
    bytes += line.length;
    lines.push(line);
  };
  while (bytes < TEXT_BYTES) {
    const [next] = waiting;
    if (next && bytes >= (next.at / 1000) * TEXT_BYTES) {
      waiting.shift();
      const { level, rest, length } = next.error;
      const count = Math.min(next.count, Math.ceil(200_000 / length));
      for (let made = 0; made < count; made++) add(level, `failed ${'e'.repeat(length)}`, rest);
    } else add(index % 50 === 0 ? 'WARN' : 'INFO', `done ${'.'.repeat(80 + (index % 60))}`);
  }
  const text = lines.join('');
  return Buffer.from(endsWithNewline ? text : text.trimEnd());
}

/** What is asked, several times each; times are fractions of the number of records. */
const questionSpec = fc.record({
  filter: fc.constantFrom<RecordFilter>(
    ...[{}, { terms: ['failed'] }, { terms: ['7'] }, { terms: ['no record has it'] }].map((filter) => ({
      ...filter,
      minLevel: 'ERROR' as const,
    })),
    { minLevel: 'FATAL' },
    {},
  ),
  range: fc.option(fc.tuple(fc.nat(999), fc.nat(30)), { nil: undefined }),
  order: fc.constantFrom('newest' as const, 'oldest' as const),
  limit: fc.constantFrom(1, 20, 1000),
});

function timeRange(records: readonly SlowRecord[], [at, length]: [number, number]): RecordFilter {
  const timeAt = (place: number) => records[Math.floor((place / 1000) * (records.length - 1))]?.timeMs ?? 0;
  return { fromMs: timeAt(at), toMs: timeAt(Math.min(999, at + length)) + 1 };
}

afterEach(() => {
  vi.useRealTimers();
});

test('a question that is repeated gets what the reference finds, also after a change that only the stamp shows', async () => {
  const dir = tempDir();
  const logs = openDir(dir, { zone: UTC });
  let made = 0;
  // Files count as unchanged for long.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS });
  await fc.assert(
    fc.asyncProperty(logSpec, fc.array(questionSpec, { minLength: 2, maxLength: 3 }), async (spec, questions) => {
      const file = `f${made++}.log`;
      const path = join(dir, file);
      const ranges: RecordFilter[] = [];
      for (const shiftMs of [0, SHIFT_MS]) {
        const text = renderText(spec, shiftMs);
        const before = statSync(path, { bigint: true, throwIfNoEntry: false });
        writeFileSync(path, text);
        // The same size, and another stamp.
        do utimesSync(path, START_MS / 1000, START_MS / 1000);
        while (statSync(path, { bigint: true }).ctimeNs === before?.ctimeNs);
        const records = readFamilyRecords({ name: '', files: [{ name: file, text, writtenMs: START_MS }] }, UTC);
        for (const [number, { filter: asked, range, order, limit }] of questions.entries()) {
          ranges[number] ??= range ? timeRange(records, range) : {};
          const filter = { ...asked, ...ranges[number] };
          const expected = slowSearch(records, { ...filter, order });
          for (let times = 0; times < 3; times++) {
            const { records: found, end } = await runSearch(logs, { src: [`=${file}`], ...filter, order, limit });
            expectSame(found, expected.slice(0, limit));
            expect(end.problems).toEqual([]);
          }
          if (limit > 1 && expected.length < 2000)
            expectSame(await searchPages(logs, { src: [`=${file}`], ...filter, order }, [limit, 33]), expected);
        }
      }
    }),
    { numRuns: runs(1) },
  );
});
