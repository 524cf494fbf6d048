import { describe, expect, it } from 'vitest';
import { hiddenBelow } from './find-bar.tsx';

const histogram = {
  buckets: [
    { startMs: 0, counts: { ERROR: 2, INFO: 10, NONE: 3 } },
    { startMs: 1, counts: { FATAL: 1, WARN: 4, DEBUG: 5, TRACE: 6 } },
  ],
};

describe('counts per level', () => {
  it.each([
    [null, 0],
    ['TRACE', 3],
    ['INFO', 14],
    ['ERROR', 28],
  ] as const)('a least level of %s hides %d', (minLevel, hidden) => {
    expect(hiddenBelow(histogram, minLevel)).toBe(hidden);
  });
});
