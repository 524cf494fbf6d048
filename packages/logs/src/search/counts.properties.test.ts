import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomDir } from '../testing/random-dir.ts';
import { logSpec } from '../testing/random-logs.ts';
import { filterSpec, toFilter } from '../testing/random-queries.ts';
import { BERLIN } from '../testing/random-record.ts';
import { withoutCursor } from '../testing/run-search.ts';
import { slowDigest, slowHistogram } from '../testing/slow-counts.ts';
import { readFamilyRecords, timedOnly } from '../testing/slow-logs.ts';

const specs = fc.array(logSpec, { minLength: 1, maxLength: 2 });

describe('a histogram', () => {
  test('counts like the reference, also when repeated', async () => {
    const { logs, write } = randomDir();
    const query = fc.record({
      filter: filterSpec,
      bucketMs: fc.option(fc.constantFrom(1000, 60_000, 3_600_000, 7), { nil: undefined }),
      buckets: fc.constantFrom(1, 10, 200),
    });
    await fc.assert(
      fc.asyncProperty(specs, fc.array(query, { minLength: 1, maxLength: 4 }), async (logSpecs, queries) => {
        const records = write(logSpecs).flatMap((family) => timedOnly(readFamilyRecords(family, BERLIN)));
        for (const { filter: wanted, bucketMs, buckets } of [...queries, ...queries]) {
          const filter = toFilter(wanted, records);
          const found = await logs.histogram({ ...filter, buckets, ...(bucketMs !== undefined && { bucketMs }) });
          const expected = slowHistogram(records, filter, found.bucketMs);
          expect({ buckets: found.buckets, untimed: found.untimed }).toEqual(expected);
          const sum = found.buckets
            .flatMap(({ counts }) => Object.values(counts))
            .reduce((a, b) => a + b, found.untimed);
          expect([found.end.records, found.end.reason]).toEqual([sum, 'exhausted']);
          for (const { startMs } of found.buckets) expect(Math.abs(startMs % found.bucketMs)).toBe(0);
          if (bucketMs === undefined) expect(found.buckets.length).toBeLessThanOrEqual(buckets + 2);
        }
      }),
      { numRuns: runs(2) },
    );
  });
});

describe('a digest', () => {
  test('groups like the reference, also when repeated', async () => {
    const { logs, write } = randomDir();
    const query = fc.record({
      filter: filterSpec,
      newSince: fc.nat(1000),
      onlyNew: fc.boolean(),
      limit: fc.constantFrom(3, 1000),
    });
    await fc.assert(
      fc.asyncProperty(specs, fc.array(query, { minLength: 1, maxLength: 3 }), async (logSpecs, queries) => {
        const records = write(logSpecs).flatMap((family) => timedOnly(readFamilyRecords(family, BERLIN)));
        for (const { filter: wanted, newSince, onlyNew, limit } of [...queries, ...queries]) {
          const filter = toFilter(wanted, records);
          const newSinceMs = toFilter({ from: newSince }, records).fromMs ?? 0;
          const found = await logs.digest({ ...filter, newSinceMs, onlyNew, limit });
          const all = slowDigest(records, filter, newSinceMs);
          const expected = all.filter(({ isNew, isNewUnknown }) => isNew || isNewUnknown || !onlyNew);
          expect(found.totalGroups).toBe(expected.length);
          expect(found.groups.length).toBe(Math.min(limit, expected.length));
          const counts = found.groups.map(({ count }) => count);
          expect(counts).toEqual(
            expected
              .map(({ count }) => count)
              .sort((a, b) => b - a)
              .slice(0, limit),
          );
          const byKey = (group: { level: unknown; source: unknown; shape: unknown }) =>
            JSON.stringify([group.level, group.source, group.shape]);
          const known = new Map(expected.map((group) => [byKey(group), group]));
          for (const { sample, ...group } of found.groups) {
            expect({ ...group, sample: withoutCursor(sample) }).toEqual(known.get(byKey(group)));
          }
          expect([found.ungrouped, found.end.reason]).toEqual([0, 'exhausted']);
          expect(found.baseline?.isComplete).toBe(true);
          expect(found.end.records).toBe(all.reduce((sum, { count }) => sum + count, 0));
        }
      }),
      { numRuns: runs(2) },
    );
  });
});
