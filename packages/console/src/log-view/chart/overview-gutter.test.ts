import { describe, expect, test } from 'vitest';
import { levelTicks, thumbPosition } from './overview-gutter.tsx';

const bucket = (startMs: number, counts: Record<string, number>) => ({ startMs, counts });
const histogram = (buckets: ReturnType<typeof bucket>[]) => ({ bucketMs: 100, buckets, counted: null, members: [] });

describe('ticks', () => {
  test('are placed by time', () => {
    const ticks = levelTicks(
      histogram([bucket(450, { ERROR: 1 }), bucket(700, { WARN: 4 }), bucket(800, { INFO: 9 })]),
      { firstMs: 0, lastMs: 1000 },
    );
    expect(ticks).toEqual([
      { fraction: 0.75, kind: 'warning' },
      { fraction: 0.5, kind: 'error' },
    ]);
  });

  test('are not placed outside of the bar', () => {
    const time = { firstMs: 0, lastMs: 1000 };
    expect(levelTicks(histogram([bucket(5000, { ERROR: 1 })]), time)).toEqual([]);
  });
});

describe('the thumb', () => {
  test('covers the visible part', () => {
    expect(thumbPosition(0.2, 0.6)).toEqual({ top: expect.closeTo(0.2), height: expect.closeTo(0.4) });
  });

  test('has a minimum size and stays within the bar', () => {
    for (const fraction of [0, 0.5, 1]) {
      const { top, height } = thumbPosition(fraction, fraction);
      expect(height).toBeGreaterThan(0.02);
      expect(top).toBeGreaterThanOrEqual(0);
      expect(top + height).toBeLessThanOrEqual(1);
    }
    expect(thumbPosition(0, 0).top).toBe(0);
    expect(thumbPosition(1, 1).top + thumbPosition(1, 1).height).toBe(1);
  });
});
