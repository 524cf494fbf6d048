import { describe, expect, test } from 'vitest';
import { axisTicks, columnRange, countColumns, sumColumns, worstColumn } from './count-chart.tsx';

const RANGE = { fromMs: 0, toMs: 60_000, bucketMs: 15_000 };

describe('bars of a chart', () => {
  test('are aligned to buckets, and the last one contains now', () => {
    expect(columnRange(100_000, { spanMs: 60_000, bucketMs: 15_000 })).toEqual({
      fromMs: 45_000,
      toMs: 105_000,
      bucketMs: 15_000,
    });
    expect(columnRange(105_000, { spanMs: 60_000, bucketMs: 15_000 }).toMs).toBe(120_000);
  });

  test('include empty buckets', () => {
    const columns = countColumns([{ startMs: 15_000, counts: { ERROR: 2, FATAL: 1, WARN: 4, INFO: 9 } }], RANGE);
    expect(columns.map(({ errors, warnings }) => [errors, warnings])).toEqual([
      [0, 0],
      [3, 4],
      [0, 0],
      [0, 0],
    ]);
    expect(columns[1]).toMatchObject({ startMs: 15_000, endMs: 30_000 });
  });

  test('merge narrower buckets and ignore those outside of the range', () => {
    const buckets = [-1000, 0, 5000, 59_999, 60_000].map((startMs) => ({ startMs, counts: { WARN: 1 } }));
    expect(countColumns(buckets, RANGE).map(({ warnings }) => warnings)).toEqual([2, 0, 0, 1]);
  });

  test('are summed, and the worst one has the most errors', () => {
    const columns = countColumns(
      [
        { startMs: 0, counts: { ERROR: 2 } },
        { startMs: 15_000, counts: { WARN: 50 } },
        { startMs: 30_000, counts: { ERROR: 2 } },
      ],
      RANGE,
    );
    expect(sumColumns(columns)).toEqual({ errors: 4, warnings: 50 });
    expect(worstColumn(columns)?.startMs).toBe(30_000);
    expect(worstColumn(countColumns([], RANGE))).toBeNull();
  });

  test('have evenly spaced time labels', () => {
    expect(axisTicks(RANGE, 2)).toEqual([
      { timeMs: 0, share: 0 },
      { timeMs: 30_000, share: 0.5 },
    ]);
  });
});
