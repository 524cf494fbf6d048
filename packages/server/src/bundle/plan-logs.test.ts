import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitSizes, shareRoom } from './plan-logs.ts';

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

describe('room for several members', () => {
  const part = (node: string, bytes: number) =>
    ({
      node,
      file: '',
      family: '',
      range: { fromMs: 0, toMs: 1 },
      kind: 'bytes',
      bytes,
      cursor: '',
      isCut: false,
    }) as const;

  it('is shared between them, however many files one lists, and then between its files', () => {
    const many = Array.from({ length: 98 }, () => part('liar', 1000));
    const sizes = shareRoom([part('a', 1000), ...many, part('b', 10)], 1000);
    expect(sizes[0]).toBe(495);
    expect(sizes.at(-1)).toBe(10);
    expect(new Set(sizes.slice(1, -1))).toEqual(new Set([5]));
  });

  it('of one member is shared as before', () => {
    expect(shareRoom([part('a', 100), part('a', 4)], 10)).toEqual([6, 4]);
  });
});
