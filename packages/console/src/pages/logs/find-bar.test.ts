import { describe, expect, it } from 'vitest';
import { hiddenBelow, levelCounts } from './find-bar.tsx';

const histogram = {
  buckets: [
    { startMs: 0, counts: { ERROR: 2, INFO: 10, NONE: 3 } },
    { startMs: 1, counts: { FATAL: 1, WARN: 4, DEBUG: 5, TRACE: 6 } },
  ],
};

describe('counts per level', () => {
  it('are summed up by the letter of their chip', () => {
    expect(levelCounts(histogram)).toEqual({ byLetter: { E: 3, W: 4, I: 10, D: 11 }, none: 3, total: 31 });
    expect(levelCounts({ buckets: [] }).total).toBe(0);
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
