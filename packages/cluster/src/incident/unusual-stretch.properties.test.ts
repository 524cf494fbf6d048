import type { ClusterHistogram } from '@porthole/contract';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERROR_RULE, type Grid, heaviestStretch, likelihoodRatio, unusualStretches } from './unusual-stretch.ts';

const BUCKET_MS = 30_000;
const GRID: Grid = { fromMs: 0, bucketMs: BUCKET_MS, usual: 60, total: 120, isNew: () => false };

function histogram(nodes: Readonly<Record<string, readonly number[]>>): ClusterHistogram {
  const buckets = Array.from({ length: GRID.total }, (_, at) => ({
    startMs: at * BUCKET_MS,
    counts: {},
    nodes: Object.fromEntries(Object.entries(nodes).map(([id, counts]) => [id, counts[at] ?? 0])),
  }));
  return { bucketMs: BUCKET_MS, buckets, untimed: 0, counted: null, members: [] };
}

const count = fc.integer({ min: 0, max: 1_000_000 });
const length = fc.integer({ min: 1, max: 86_400_000 });

describe('the log-likelihood ratio', () => {
  it('is 0 for the same rate, grows with the distance, and has the sign of it', () => {
    fc.assert(
      fc.property(count, count, length, length, (a, b, aMs, bMs) => {
        const ratio = likelihoodRatio({ count: a, ms: aMs }, { count: b, ms: bMs });
        expect(Number.isFinite(ratio)).toBe(true);
        if (a * bMs === b * aMs) expect(Math.abs(ratio)).toBeLessThan(1e-6);
        if (a * bMs < b * aMs) expect(ratio).toBeLessThanOrEqual(1e-6);
        const more = likelihoodRatio({ count: a + 1000, ms: aMs }, { count: b, ms: bMs });
        if (a * bMs >= b * aMs) expect(more).toBeGreaterThan(ratio - 1e-6);
      }),
    );
  });

  it('is as in tables: 10 against 2 in the same time', () => {
    expect(likelihoodRatio({ count: 10, ms: 60 }, { count: 2, ms: 60 })).toBeCloseTo(5.822, 3);
  });
});

describe('unusual stretches', () => {
  const counts = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 120, maxLength: 120 });

  it('lie in the range that was looked at, and those of a node do not overlap', () => {
    fc.assert(
      fc.property(counts, counts, (a, b) => {
        const found = unusualStretches(histogram({ a, b }), GRID, ERROR_RULE);
        for (const { fromMs, toMs, weight } of found) {
          expect(fromMs).toBeGreaterThanOrEqual(GRID.usual * BUCKET_MS);
          expect(toMs).toBeLessThanOrEqual(GRID.total * BUCKET_MS);
          expect(toMs).toBeGreaterThan(fromMs);
          expect(weight).toBeGreaterThanOrEqual(ERROR_RULE.minRatio);
        }
        for (const node of ['a', 'b', null]) {
          const own = found.filter((one) => one.node === node);
          for (const [at, one] of own.entries()) expect(one.fromMs).toBeGreaterThanOrEqual(own[at - 1]?.toMs ?? 0);
        }
      }),
      { numRuns: runs(25) },
    );
  });

  it('are not in counts that go on as before', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30 }), (rate) => {
        const even = new Array<number>(120).fill(rate);
        expect(unusualStretches(histogram({ a: even }), GRID, ERROR_RULE)).toEqual([]);
      }),
    );
  });

  it('are where a burst is, wherever it is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 60, max: 115 }), fc.integer({ min: 1, max: 5 }), (from, buckets) => {
        const series = Array.from({ length: 120 }, (_, at) => (at >= from && at < from + buckets ? 40 : at % 2));
        const stretch = heaviestStretch(unusualStretches(histogram({ a: series }), GRID, ERROR_RULE));
        expect(stretch).toMatchObject({ fromMs: from * BUCKET_MS, toMs: (from + buckets) * BUCKET_MS });
      }),
    );
  });

  it('are not in errors that rise as much as the work', () => {
    const series = (usual: number, now: number) => Array.from({ length: 120 }, (_, at) => (at < 60 ? usual : now));
    const errors = histogram({ a: series(4, 10) });
    expect(unusualStretches(errors, GRID, ERROR_RULE)).toHaveLength(1);
    expect(unusualStretches(errors, GRID, ERROR_RULE, histogram({ a: series(104, 260) }))).toEqual([]);
  });
});
