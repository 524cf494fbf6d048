import { describe, expect, it } from 'vitest';
import { chipCounts, hiddenBelow } from './find-bar.tsx';

const histogram = {
  buckets: [
    { startMs: 0, counts: { ERROR: 2, INFO: 10, NONE: 3 } },
    { startMs: 1, counts: { FATAL: 1, WARN: 4, DEBUG: 5, TRACE: 6 } },
  ],
};

describe('counts per level', () => {
  it('are summed up by the letter of their chip', () => {
    const counts = (buckets: typeof histogram.buckets) =>
      chipCounts({ buckets, bucketMs: 1, counted: null, members: [] }, null).map(({ letter, count }) => [
        letter,
        count,
      ]);
    expect(Object.fromEntries(counts(histogram.buckets))).toEqual({ E: 3, W: 4, I: 10, D: 14 });
    expect(Object.fromEntries(counts([]))).toEqual({ E: 0, W: 0, I: 0, D: 0 });
  });

  it.each([
    [null, 0],
    ['TRACE', 3],
    ['INFO', 14],
    ['ERROR', 28],
  ] as const)('a least level of %s hides %d', (minLevel, hidden) => {
    expect(hiddenBelow(histogram, minLevel)).toBe(hidden);
  });
});
