import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitSizes } from './plan-logs.ts';

describe('room for several', () => {
  it.each([
    [[], 10, []],
    [[3, 4], 7, [3, 4]],
    [[100, 4], 10, [6, 4]],
    [[100, 100, 1], 10, [4, 4, 1]],
    [[5, 5], 0, [0, 0]],
    [[5, 5], -3, [0, 0]],
  ])('%j in %i: %j', (sizes, room, fitted) => {
    expect(fitSizes(sizes, room)).toEqual(fitted);
  });

  it('is never exceeded, and not wasted while one is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { maxLength: 20 }), fc.nat(5000), (sizes, room) => {
        const fitted = fitSizes(sizes, room);
        const total = fitted.reduce((sum, size) => sum + size, 0);
        expect(total).toBeLessThanOrEqual(room);
        const cut = fitted.filter((size, index) => size < (sizes[index] ?? 0));
        if (cut.length > 0) expect(room - total).toBeLessThan(sizes.length);
        expect(new Set(cut).size).toBeLessThanOrEqual(1);
      }),
    );
  });
});
