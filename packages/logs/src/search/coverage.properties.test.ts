import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { LEVELS_BY_RANK } from '../parse/level.ts';
import { LogSources } from '../query/log-sources.ts';
import { randomDir } from '../testing/random-dir.ts';
import { logSpec, mixedSpec, type WrittenFamily } from '../testing/random-logs.ts';
import { filterSpec, toFilter } from '../testing/random-queries.ts';
import { BERLIN } from '../testing/random-record.ts';
import { runSearch, type SearchResult } from '../testing/run-search.ts';
import { matches, readFamilyRecords, type SlowRecord } from '../testing/slow-logs.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { RecordFilter, SearchEnd, SearchQuery } from '../types.ts';

const specs = fc.array(fc.oneof(logSpec, mixedSpec), { minLength: 1, maxLength: 3 });

const request = fc.record({
  filter: filterSpec,
  order: fc.constantFrom('newest' as const, 'oldest' as const),
  limit: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 6, max: 500 }), fc.constant(1_000_000)),
  select: fc.constantFrom('all', 'family', 'file'),
  start: fc.constantFrom('none', 'none', 'cursor', 'record', 'time', 'offset'),
  until: fc.constantFrom(false, false, true),
  at: fc.nat(1_000_000),
  end: fc.nat(1_000_000),
  /** Polls after which the time budget is exhausted. */
  polls: fc.oneof(fc.constant(Infinity), fc.nat(8), fc.nat(60)),
  isHere: fc.boolean(),
});

describe('the coverage of a search', () => {
  test('is a time range in which no matching record is missing', async () => {
    const { logs, here, write } = randomDir();
    const requests = fc.array(request, { minLength: 2, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(specs, requests, async (logSpecs, queries) => {
        const families = write(logSpecs);
        const byFile = await familyNames(logs, families);
        for (const one of [...queries, ...queries]) {
          const { filter: wanted, order, limit, polls, isHere } = one;
          const { records, query } = byFile.select(one);
          const filter = toFilter(wanted, records);
          let left = polls;
          const options = { isOver: () => left-- <= 0 };
          const response = await runSearch(isHere ? here : logs, { ...query, ...filter, order, limit }, options);
          expectCovered(response, records, filter);
          expectBytes(response.end, query, families);
          const isWhole = query.start === undefined && query.until === undefined;
          if (response.end.reason === 'exhausted' && isWhole) expectWhole(response.end, records, filter);
          if (new LogSources(query.src).only?.kind === 'family' && isWhole)
            expectCoveredToEnd(response, records, { order, filter });
        }
      }),
      { numRuns: runs(1) },
    );
  });

  test.each(['newest', 'oldest'] as const)(
    'is without the record it ends before, wherever time is up, %s first',
    async (order) => {
      const dir = tempDir();
      const logs = openDir(dir, { zone: BERLIN });
      writeFileSync(join(dir, 'a.log'), '2026-06-01 10:00:00.000\tINFO\ta.go:1\tonly\n');
      const [only] = (await runSearch(logs, {})).records;
      for (let polls = 0; polls < 10; polls++) {
        let left = polls;
        const { end } = await runSearch(logs, { order, until: only?.cursor ?? '' }, { isOver: () => left-- <= 0 });
        expect({ polls, coveredFromMs: end.coveredFromMs }).toEqual({ polls, coveredFromMs: null });
      }
    },
  );
});

describe('the coverage of a count', () => {
  test('is a time range in which every matching record is counted', async () => {
    const { logs, here, write } = randomDir();
    const count = fc.record({
      filter: filterSpec,
      bucketMs: fc.constantFrom(1, 1000, 60_000),
      polls: fc.oneof(fc.constant(Infinity), fc.nat(8), fc.nat(60)),
      isHere: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(specs, fc.array(count, { minLength: 1, maxLength: 4 }), async (logSpecs, queries) => {
        const families = write(logSpecs);
        const records = families.flatMap((family) => readFamilyRecords(family, BERLIN));
        for (const { filter: wanted, bucketMs: width, polls, isHere } of [...queries, ...queries]) {
          const filter = toFilter(wanted, records);
          let left = polls;
          const options = { isOver: () => left-- <= 0 };
          const dir = isHere ? here : logs;
          const query = { ...filter, buckets: 10, bucketMs: width };
          const { buckets, bucketMs, end } = await dir.histogram(query, options);
          expectBytes(end, {}, families);
          if (end.reason === 'exhausted') expectWhole(end, records, filter);
          const covered = coveredRange(end);
          const wantedCounts = new Map<number, number>();
          for (const { timeMs } of records.filter((record) => matches(record, filter) && isIn(record, covered))) {
            const startMs = Math.floor(timeMs / bucketMs) * bucketMs;
            wantedCounts.set(startMs, (wantedCounts.get(startMs) ?? 0) + 1);
          }
          const found = new Map(buckets.map(({ startMs, counts }) => [startMs, sum(Object.values(counts))]));
          for (const [startMs, expected] of wantedCounts) {
            const isInside = covered && startMs >= covered.fromMs && startMs + bucketMs - 1 <= covered.toMs;
            const counted = found.get(startMs) ?? 0;
            if (isInside) expect(counted).toBe(expected);
            else expect(counted).toBeGreaterThanOrEqual(expected);
          }

          left = polls;
          const digest = await dir.digest({ ...filter, limit: 1000 }, options);
          expectBytes(digest.end, {}, families);
          if (digest.end.reason === 'exhausted') expectWhole(digest.end, records, filter);
          const inRange = records.filter((record) => matches(record, filter) && isIn(record, coveredRange(digest.end)));
          expect(digest.end.records).toBeGreaterThanOrEqual(inRange.length);

          left = polls;
          const top = await dir.top({ ...filter, by: 'level', limit: 10, bucketMs: width }, options);
          expectBytes(top.end, {}, families);
          if (top.end.reason === 'exhausted') expectWhole(top.end, records, filter);
          const ofTop = records.filter((record) => matches(record, filter) && isIn(record, coveredRange(top.end)));
          expect(top.end.records).toBeGreaterThanOrEqual(ofTop.length);
          for (const { value, count, buckets: overTime } of top.values) {
            const ofValue = ofTop.filter(({ rank }) => LEVELS_BY_RANK[rank] === value);
            expect(count).toBeGreaterThanOrEqual(ofValue.length);
            expect(sum((overTime ?? []).map((bucket) => bucket.count))).toBeLessThanOrEqual(count);
          }
        }
      }),
      { numRuns: runs(1) },
    );
  });
});

/** The possible selections, and the records each of them covers. */
async function familyNames(logs: LogDir, families: readonly WrittenFamily[]) {
  const lists = new Map<string, { records: SlowRecord[]; cursors: string[] }>();
  const add = async (key: string, query: Partial<SearchQuery>, records: SlowRecord[]) => {
    const { records: found } = await runSearch(logs, query);
    const cursorsByPosition = new Map(found.map(({ file, offset, cursor }) => [`${file}:${offset}`, cursor]));
    lists.set(key, {
      records,
      cursors: records.map(({ file, offset }) => cursorsByPosition.get(`${file}:${offset}`) ?? ''),
    });
  };
  for (const family of families) {
    await add(`family ${family.name}`, { src: [family.name] }, readFamilyRecords(family, BERLIN));
    for (const file of family.files)
      await add(
        `file ${file.name}`,
        { src: [`=${file.name}`] },
        readFamilyRecords({ name: '', files: [file] }, BERLIN),
      );
  }
  const all = families.flatMap(({ name }) => lists.get(`family ${name}`)?.records ?? []);
  return {
    select({
      select,
      start,
      until,
      at,
      end,
    }: {
      select: string;
      start: string;
      until: boolean;
      at: number;
      end: number;
    }) {
      const family = families[at % families.length] as WrittenFamily;
      const file = family.files[at % family.files.length]?.name ?? '';
      if (select === 'all') {
        const { timeMs = 0 } = all[at % all.length] ?? {};
        const query: Partial<SearchQuery> = start === 'time' && timeMs > 0 ? { start: { timeMs } } : {};
        const { records: own = [], cursors: ends = [] } = lists.get(`family ${family.name}`) ?? {};
        // A log without times is not in a search of all.
        if (until && own.some((each) => each.timeMs > 0)) query.until = ends[end % own.length] ?? '';
        return { records: all, query };
      }
      const isFile = select === 'file' || start === 'offset';
      const { records, cursors } = lists.get(isFile ? `file ${file}` : `family ${family.name}`) ?? {
        records: [],
        cursors: [],
      };
      const record = records[at % records.length];
      const cursor = cursors[at % records.length] ?? '';
      const query: Partial<SearchQuery> = isFile ? { src: [`=${file}`] } : { src: [family.name] };
      if (start === 'cursor') query.start = { cursor };
      if (start === 'record') query.start = { record: cursor };
      if (start === 'offset') query.start = { offset: record?.offset ?? 0 };
      if (start === 'time' && record && record.timeMs > 0) query.start = { timeMs: record.timeMs };
      if (until) query.until = cursors[end % records.length] ?? '';
      return { records, query };
    },
  };
}

type Covered = Pick<SearchEnd, 'coveredFromMs' | 'coveredToMs'>;

function coveredRange({ coveredFromMs, coveredToMs }: Covered): { fromMs: number; toMs: number } | null {
  expect(coveredFromMs === null).toBe(coveredToMs === null);
  if (coveredFromMs === null || coveredToMs === null) return null;
  expect(coveredFromMs).toBeLessThanOrEqual(coveredToMs);
  return { fromMs: coveredFromMs, toMs: coveredToMs };
}

function isIn({ timeMs }: { timeMs: number }, range: { fromMs: number; toMs: number } | null): boolean {
  return range !== null && timeMs >= range.fromMs && timeMs <= range.toMs;
}

function expectCovered(
  { records: found, end }: SearchResult,
  records: readonly SlowRecord[],
  filter: RecordFilter,
): void {
  const covered = coveredRange(end);
  if (!covered) return;
  if (filter.fromMs !== undefined) expect(covered.fromMs).toBeGreaterThanOrEqual(filter.fromMs);
  if (filter.toMs !== undefined) expect(covered.toMs).toBeLessThan(filter.toMs);
  const returned = new Set(found.map(({ file, offset }) => `${file}:${offset}`));
  const missing = records.filter(
    (record) => isIn(record, covered) && matches(record, filter) && !returned.has(`${record.file}:${record.offset}`),
  );
  expect(missing.map(({ file, offset, timeMs }) => ({ file, offset, timeMs, covered }))).toEqual([]);
}

/** For a complete response: from the first to the last record, or the whole requested time range. */
function expectWhole(end: Covered, records: readonly SlowRecord[], { fromMs, toMs }: RecordFilter): void {
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs) return;
  const times = records.map(({ timeMs }) => timeMs).filter((timeMs) => !Number.isNaN(timeMs));
  if (times.length === 0) return;
  const covered = coveredRange(end);
  expect(covered).not.toBeNull();
  const first = times.reduce((a, b) => Math.min(a, b));
  const last = times.reduce((a, b) => Math.max(a, b));
  if (fromMs !== undefined) expect(covered?.fromMs).toBe(fromMs);
  else expect(covered?.fromMs).toBeLessThanOrEqual(first);
  if (toMs !== undefined) expect(covered?.toMs).toBe(toMs - 1);
  else expect(covered?.toMs).toBeGreaterThanOrEqual(last);
}

/** For one log: up to the last record emitted, except for times that occur before and after it. */
function expectCoveredToEnd(
  { records: found, end }: SearchResult,
  records: readonly SlowRecord[],
  { order, filter }: { order: SearchQuery['order']; filter: RecordFilter },
): void {
  const last = found.at(-1);
  if (!last || end.reason !== 'limit' || filter.fromMs !== undefined || filter.toMs !== undefined) return;
  const index = records.findIndex(({ file, offset }) => file === last.file && offset === last.offset);
  const left = order === 'newest' ? records.slice(0, index) : records.slice(index + 1);
  const recordTimes = (some: readonly SlowRecord[]) =>
    some.map(({ timeMs }) => timeMs).filter((timeMs) => !Number.isNaN(timeMs));
  const [times, all] = [recordTimes(left), recordTimes(records)];
  if (times.length === 0) return;
  const expected =
    order === 'newest'
      ? { fromMs: Math.max(...times.map((time) => time + 1)), toMs: Math.max(...all) }
      : { fromMs: Math.min(...all), toMs: Math.min(...times.map((time) => time - 1)) };
  if (expected.fromMs > expected.toMs) return;
  const covered = coveredRange(end);
  expect(covered).not.toBeNull();
  expect(covered?.fromMs).toBeLessThanOrEqual(expected.fromMs);
  expect(covered?.toMs).toBeGreaterThanOrEqual(expected.toMs);
}

/** Every byte counts once, and no more than there are. */
function expectBytes(
  { scannedBytes, skippedBytes, unreadBytes = 0 }: Pick<SearchEnd, 'scannedBytes' | 'skippedBytes' | 'unreadBytes'>,
  { src }: Partial<SearchQuery>,
  families: readonly WrittenFamily[],
): void {
  const logs = new LogSources(src);
  const files = families.flatMap((family) => family.files.filter(({ name }) => logs.hasFile(name, family.name)));
  const total = sum(files.map(({ text }) => text.length));
  expect(Math.min(scannedBytes, skippedBytes, unreadBytes)).toBeGreaterThanOrEqual(0);
  expect(scannedBytes + skippedBytes).toBeLessThanOrEqual(total);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
