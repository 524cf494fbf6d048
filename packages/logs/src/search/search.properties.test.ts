import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectSame, randomDir } from '../testing/random-dir.ts';
import { logSpec } from '../testing/random-logs.ts';
import { filterSpec, startSpec, toFilter, toSlowStart } from '../testing/random-queries.ts';
import { BERLIN } from '../testing/random-record.ts';
import { runSearch, searchPages, withoutCursor } from '../testing/run-search.ts';
import {
  readFamilyRecords,
  type SlowFamily,
  type SlowRecord,
  slowMerge,
  slowSearch,
  timedOnly,
  toComparable,
} from '../testing/slow-logs.ts';
import type { FoundRecord, StartPoint } from '../types.ts';

const searchCase = fc.record({
  filter: filterSpec,
  start: startSpec,
  until: fc.option(fc.nat(1_000_000), { freq: 5, nil: undefined }),
  order: fc.constantFrom('newest', 'oldest'),
  limit: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(100_000)),
  context: fc.constantFrom<[number, number]>([0, 0], [0, 0], [2, 1], [0, 3]),
  oneFile: fc.boolean(),
});

describe('a search', () => {
  test('returns the same as the reference, whatever the log and the query', async () => {
    const { logs, write } = randomDir();
    await fc.assert(
      fc.asyncProperty(logSpec, fc.array(searchCase, { minLength: 1, maxLength: 6 }), async (spec, questions) => {
        const [family] = write([spec]);
        const lists = new Map<string, { records: SlowRecord[]; all: FoundRecord[] }>();
        for (const { filter: wanted, start, until, order, limit: most, context, oneFile } of questions) {
          // The context of each record is a separate search.
          const limit = context[0] + context[1] > 0 ? Math.min(most, 20) : most;
          const file = family.files[start.at % family.files.length];
          const asksFile = (oneFile || start.kind === 'offset') && file !== undefined;
          const selection = { src: [asksFile ? `=${file.name}` : family.name] };
          const known = lists.get(asksFile ? file.name : '') ?? {
            records: readFamilyRecords(asksFile ? { name: '', files: [file] } : family, BERLIN),
            all: (await runSearch(logs, selection)).records,
          };
          lists.set(asksFile ? file.name : '', known);
          const { records, all } = known;
          expectSame(all, records);

          const slowStart = toSlowStart(start, records);
          const stop = until === undefined ? undefined : until % records.length;
          const filter = toFilter(wanted, records);
          const expected = slowSearch(records, {
            ...filter,
            order,
            start: slowStart,
            until: stop === undefined ? undefined : records[stop],
          }).slice(0, limit);
          const [before, after] = context;
          const point = startPoint(slowStart, records, all);
          const { records: found, end } = await runSearch(logs, {
            ...selection,
            ...filter,
            order,
            limit,
            before,
            after,
            ...(point && { start: point }),
            ...(stop !== undefined && { until: all[stop]?.cursor ?? '' }),
          });
          expectSame(found, expected);
          expect(end.records).toBe(expected.length);
          if (end.reason === 'exhausted') expect(end.cursor).toBeNull();
          else expect([end.reason, expected.length]).toEqual(['limit', limit]);
          expectContext(found, expected, records, { before, after });
        }
      }),
      { numRuns: runs(2) },
    );
  });

  test('read page by page returns every record exactly once and in order', async () => {
    const { logs, write } = randomDir();
    const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 100, max: 5000 })), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(
        logSpec,
        filterSpec,
        fc.constantFrom('newest', 'oldest'),
        sizes,
        async (spec, wanted, order, pages) => {
          const [family] = write([spec]);
          const records = readFamilyRecords(family, BERLIN);
          const filter = toFilter(wanted, records);
          const expected = slowSearch(records, { ...filter, order });
          const usable =
            expected.length > 200 ? pages.map((size) => Math.max(size, Math.ceil(expected.length / 40))) : pages;
          const found = await searchPages(logs, { src: [family.name], ...filter, order }, usable);
          expectSame(found, expected);
        },
      ),
      { numRuns: runs(2) },
    );
  });

  test('of all logs returns each record once, every log in its own order', async () => {
    const { logs, write } = randomDir();
    const specs = fc.array(logSpec, { minLength: 2, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        specs,
        filterSpec,
        fc.constantFrom('newest', 'oldest'),
        fc.nat(30),
        async (logSpecs, wanted, order, size) => {
          const families = write(logSpecs);
          const byFamily = families.map((family) => timedOnly(readFamilyRecords(family, BERLIN)));
          const filter = toFilter(wanted, byFamily.flat());
          const lanes = byFamily.map((records) => slowSearch(records, { ...filter, order }));
          const { records: found } = await runSearch(logs, { ...filter, order });
          expectLanes(found, lanes, families);
          if (Object.keys(filter).length === 0) expectSame(found, slowMerge(lanes, order));

          const pages = [1 + size, 1 + Math.ceil(found.length / 10)];
          expectLanes(await searchPages(logs, { ...filter, order }, pages), lanes, families);
        },
      ),
      { numRuns: runs(2) },
    );
  });
});

describe('pages of all logs', () => {
  test('continue if they started at a time, not at a record', async () => {
    const { logs, write } = randomDir();
    const specs = fc.array(logSpec, { minLength: 2, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        specs,
        fc.nat(),
        fc.constantFrom('newest', 'oldest'),
        fc.nat(3),
        async (logSpecs, at, order, size) => {
          const families = write(
            logSpecs.map((spec) => ({
              ...spec,
              files: spec.files.map((file) => ({ ...file, pieces: file.pieces.slice(0, 4) })),
            })),
          );
          const byFamily = families.map((family) => timedOnly(readFamilyRecords(family, BERLIN)));
          const times = byFamily.flat().flatMap(({ timeMs }) => (Number.isNaN(timeMs) ? [] : [timeMs]));
          const start = { timeMs: times[at % times.length] ?? 0 };
          const lanes = byFamily.map((records) => slowSearch(records, { order, start }));
          const pages = [1, 1 + size, 20_000];
          expectLanes(await searchPages(logs, { order, start }, pages), lanes, families);
        },
      ),
      { numRuns: runs(2) },
    );
  });
});

function startPoint(
  start: ReturnType<typeof toSlowStart>,
  records: readonly SlowRecord[],
  all: readonly FoundRecord[],
): StartPoint | undefined {
  const cursorFor = (record: SlowRecord) => all[records.indexOf(record)]?.cursor ?? '';
  if (!start) return undefined;
  if ('after' in start) return { cursor: cursorFor(start.after) };
  if ('at' in start) return { record: cursorFor(start.at) };
  return start;
}

function expectContext(
  found: readonly FoundRecord[],
  expected: readonly SlowRecord[],
  records: readonly SlowRecord[],
  { before, after }: { before: number; after: number },
): void {
  // Only for a few: the reference is slow.
  for (const [index, record] of found.slice(0, 5).entries()) {
    const position = records.indexOf(expected[index] as SlowRecord);
    const comparable = (part: readonly SlowRecord[]) => part.map(toComparable);
    if (before > 0)
      expect(record.before?.map(withoutCursor)).toEqual(
        comparable(records.slice(Math.max(0, position - before), position)),
      );
    else expect(record.before).toBeUndefined();
    if (after > 0)
      expect(record.after?.map(withoutCursor)).toEqual(comparable(records.slice(position + 1, position + 1 + after)));
    else expect(record.after).toBeUndefined();
  }
}

function expectLanes(
  found: readonly FoundRecord[],
  lanes: readonly SlowRecord[][],
  families: readonly SlowFamily[],
): void {
  families.forEach(({ files }, index) => {
    const names = new Set(files.map(({ name }) => name));
    const own = found.filter(({ file }) => names.has(file));
    expectSame(own, lanes[index] ?? []);
  });
  expect(found.length).toBe(lanes.flat().length);
}
