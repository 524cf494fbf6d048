import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createZone } from '../parse/zone.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';

const UTC = createZone('UTC');
const START = Date.parse('2026-06-01T00:00:00Z');
const HOUR_MS = 3_600_000;

interface Stretch {
  lines: number;
  stepMs: number;
  /** The writer's clock is adjusted by this much before it. */
  jumpMs: number;
  /** Every `every` records, one is older by `lateMs`. */
  every: number;
  lateMs: number;
}

const stretch: fc.Arbitrary<Stretch> = fc.record({
  lines: fc.oneof(fc.nat(50), fc.integer({ min: 1000, max: 5000 })),
  stepMs: fc.constantFrom(0, 10, 700),
  jumpMs: fc.constantFrom(0, 0, 0, 30_000, -30_000, -90_000, -2 * HOUR_MS, 5 * HOUR_MS),
  every: fc.constantFrom(1, 7, 2500),
  lateMs: fc.constantFrom(0, 0, 0, 59_000, 61_000, 10 * 60_000, 3 * HOUR_MS),
});

/** Records out of order by a minute or more, and the time of each. */
function render(stretches: readonly Stretch[], name: string, padding = 60): { text: Buffer; times: number[] } {
  const times: number[] = [];
  const lines: string[] = [];
  let nowMs = START;
  for (const { lines: count, stepMs, jumpMs, every, lateMs } of stretches) {
    nowMs += jumpMs;
    for (let index = 0; index < count; index++) {
      nowMs += stepMs;
      const timeMs = nowMs - (index % every === every - 1 ? lateMs : 0);
      times.push(timeMs);
      const wall = new Date(timeMs).toISOString().slice(0, -1).replace('T', ' ');
      lines.push(`${wall}\tINFO\t${name}.go:1\trecord ${times.length} ${'-'.repeat(padding)}\n`);
    }
  }
  return { text: Buffer.from(lines.join('')), times };
}

describe('records more than a minute out of order', () => {
  test('are found by a time range unless the file is compressed, then once it was read', async () => {
    const dir = tempDir();
    const logs = openDir(dir, { zone: UTC });
    let made = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(stretch, { minLength: 1, maxLength: 6 }),
        fc.array(fc.tuple(fc.nat(100_000), fc.constantFrom(0, 1000, 20_000, 4 * HOUR_MS)), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.boolean(),
        fc.constantFrom('newest' as const, 'oldest' as const),
        async (stretches, ranges, gz, order) => {
          const name = `f${made++}`;
          const file = `${name}.log${gz ? '.1.gz' : ''}`;
          const { text, times } = render(stretches, name);
          writeFileSync(join(dir, file), gz ? gzipSync(text, { level: 1 }) : text);
          const queries = ranges.map(([at, width]) => {
            const fromMs = times[at % times.length] ?? 0;
            const inRange = times.filter((time) => time >= fromMs && time < fromMs + width + 1);
            return { fromMs, toMs: fromMs + width + 1, count: inRange.length };
          });
          for (const { count, ...range } of queries) {
            const { records, end } = await runSearch(logs, { src: [`=${file}`], order, ...range });
            expect(records.length).toBeLessThanOrEqual(count);
            if (records.length < count) expect(end.unreadBytes).toBeGreaterThan(0);
            if (!gz) expect([records.length, end.unreadBytes]).toEqual([count, 0]);
          }
          expect((await logs.histogram({ src: [`=${file}`], buckets: 3 })).end.records).toBe(times.length);
          for (const { count, ...range } of queries) {
            const { records, end } = await runSearch(logs, { src: [`=${file}`], order, ...range });
            expect(records.length).toBe(count);
            expect([end.coveredFromMs, end.coveredToMs]).toEqual([range.fromMs, range.toMs - 1]);
            expect(end.problems).toEqual([]);
            const counted = await logs.histogram({ src: [`=${file}`], ...range, buckets: 3 });
            expect(counted.end.records).toBe(count);
            const [first] = (await runSearch(logs, { src: [`=${file}`], start: { timeMs: range.fromMs }, limit: 1 }))
              .records;
            expect(first?.message).toContain(`record ${times.findIndex((time) => time >= range.fromMs) + 1} `);
          }
        },
      ),
      { numRuns: runs(3) },
    );
  });

  test('are found at once if the whole file is not in order', async () => {
    const dir = tempDir();
    const hour = { lines: 36_000, stepMs: 100, jumpMs: 0, every: 1, lateMs: 0 };
    const { text, times } = render([hour, { ...hour, jumpMs: -HOUR_MS / 2 }], 'a');
    writeFileSync(join(dir, 'a.log'), text);
    const logs = openDir(dir, { zone: UTC });
    for (const fromMs of [START + HOUR_MS / 2, START + 0.75 * HOUR_MS, START + 1.25 * HOUR_MS]) {
      const { records, end } = await runSearch(logs, { src: ['=a.log'], fromMs, toMs: fromMs + 60_000 });
      expect(records.length).toBe(times.filter((time) => time >= fromMs && time < fromMs + 60_000).length);
      expect(end.unreadBytes).toBe(0);
    }
  });

  test('are found page by page, in both directions, and counted, in a file nothing is known of', async () => {
    const dir = tempDir();
    let made = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(stretch, { minLength: 2, maxLength: 6 }),
        fc.tuple(fc.nat(100_000), fc.constantFrom(1000, 20_000, HOUR_MS)),
        fc.constantFrom('newest' as const, 'oldest' as const),
        fc.integer({ min: 1, max: 7 }),
        async (stretches, [at, widthMs], order, pages) => {
          const name = `p${made++}`;
          const file = `${name}.log`;
          const { text, times } = render(stretches, name);
          if (times.length === 0) return;
          writeFileSync(join(dir, file), text);
          const fromMs = times[at % times.length] ?? 0;
          const range = { file, fromMs, toMs: fromMs + widthMs };
          const inRange = times.flatMap((time, index) => (time >= fromMs && time < range.toMs ? [index + 1] : []));
          const logs = openDir(dir, { zone: UTC });
          const counted = openDir(dir, { zone: UTC });
          expect((await counted.histogram({ ...range, buckets: 3 })).end.records).toBe(inRange.length);
          const limit = Math.ceil(inRange.length / pages);
          const found: number[] = [];
          let start: { cursor: string } | undefined;
          do {
            const { records, end } = await runSearch(logs, { ...range, order, limit, ...(start && { start }) });
            for (const { message } of records) found.push(Number(/record (\d+)/.exec(message)?.[1]));
            start = end.cursor === null ? undefined : { cursor: end.cursor };
          } while (start);
          expect(found).toEqual(order === 'newest' ? inRange.toReversed() : inRange);
        },
      ),
      { numRuns: runs(2) },
    );
  });

  test('are where a start at a time begins, in files nothing is known of', async () => {
    const root = tempDir();
    let made = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(stretch, { minLength: 2, maxLength: 6 }),
        fc.nat(6),
        fc.nat(100_000),
        fc.constantFrom(-1, 0, 30_000, HOUR_MS),
        async (stretches, rotatedAfter, at, plusMs) => {
          const dir = join(root, `d${made++}`);
          mkdirSync(dir);
          const { text, times } = render(stretches, 'a');
          if (times.length === 0) return;
          const older = render(stretches.slice(0, rotatedAfter), 'a').text.length;
          if (older > 0) writeFileSync(join(dir, 'a.log.1'), text.subarray(0, older));
          writeFileSync(join(dir, 'a.log'), text.subarray(older));
          const timeMs = (times[at % times.length] ?? 0) + plusMs;
          const all = await runSearch(openDir(dir, { zone: UTC }), { src: ['a.log'] });
          const { records, end } = await runSearch(openDir(dir, { zone: UTC }), { start: { timeMs }, src: ['a.log'] });
          const first = all.records.findIndex((record) => (record.timeMs ?? 0) >= timeMs);
          const expected = first < 0 ? [] : all.records.slice(first);
          expect([records[0]?.message, records.length]).toEqual([expected[0]?.message, expected.length]);
          expect(end.unreadBytes).toBe(0);
        },
      ),
      { numRuns: runs(3) },
    );
  });

  test('beside a time range make a large file be read whole; those in the range are reported', async () => {
    const dir = tempDir();
    const hour = { lines: 7200, stepMs: 500, jumpMs: 0, every: 9_999_999, lateMs: 0 };
    const late = { ...hour, lines: 100, every: 50, lateMs: HOUR_MS / 2 };
    const { text, times } = render([hour, late, hour], 'a', 1700);
    writeFileSync(join(dir, 'a.log'), text);
    const lateAt = { fromMs: START + HOUR_MS / 2, toMs: START + HOUR_MS / 2 + 60_000 };
    const beside = { fromMs: START + HOUR_MS + 600_000, toMs: START + HOUR_MS + 660_000 };
    const range = { fromMs: START + HOUR_MS, toMs: START + HOUR_MS + 20_000 };
    const countIn = ({ fromMs, toMs }: typeof range) => times.filter((time) => time >= fromMs && time < toMs).length;
    const logs = openDir(dir, { zone: UTC });
    const { records, end } = await runSearch(logs, { src: ['=a.log'], ...range });
    expect(records.length).toBe(countIn(range));
    expect(end.problems).toMatchObject([{ file: 'a.log', code: 'OUT_OF_ORDER' }]);
    expect(end.unreadBytes).toBeGreaterThan(0);
    const again = await runSearch(logs, { src: ['=a.log'], ...lateAt });
    expect([again.records.length, again.end.problems, again.end.unreadBytes]).toEqual([countIn(lateAt), [], 0]);
    const fresh = openDir(dir, { zone: UTC });
    const first = await runSearch(fresh, { src: ['=a.log'], ...beside });
    expect([first.records.length, first.end.unreadBytes]).toEqual([countIn(beside), 0]);
  });
});
