import { describe, expect, test } from 'vitest';
import {
  barAt,
  barHeight,
  chartBars,
  chartSpan,
  fractionOfTime,
  stackHeights,
  timeAtFraction,
  uncountedRanges,
} from './histogram-chart.tsx';

const histogram = {
  bucketMs: 100,
  buckets: [
    { startMs: 1000, counts: { INFO: 5, ERROR: 1, FATAL: 1 } },
    { startMs: 1200, counts: { WARN: 2, NONE: 3 } },
  ],
  counted: null,
  members: [],
};

describe('the time span of a chart', () => {
  test.each([
    ['the requested range, if both ends are given', { fromMs: 500, toMs: 900 }, { fromMs: 500, toMs: 900 }],
    ['up to now, if only the start is given', { fromMs: 500 }, { fromMs: 500, toMs: 5000 }],
    ['the counted range, if nothing is given', {}, { fromMs: 1000, toMs: 1300 }],
  ])('is %s', (_, requested, expected) => {
    expect(chartSpan(histogram, { requested, log: null, nowMs: 5000 })).toEqual(expected);
  });

  test('is unknown without any counts', () => {
    expect(chartSpan({ ...histogram, buckets: [] }, { requested: {}, log: null, nowMs: 5000 })).toBeNull();
  });

  test('is the whole log, even if only part of it was counted', () => {
    const log = { firstMs: 900, lastMs: 4000 };
    expect(chartSpan(histogram, { requested: {}, log, nowMs: 5000 })).toEqual({ fromMs: 900, toMs: 4000 });
  });
});

test('bars are stacked by warnings and others, including errors and records without a level', () => {
  expect(chartBars(histogram)).toEqual([
    { startMs: 1000, endMs: 1100, errors: 2, counts: [0, 7] },
    { startMs: 1200, endMs: 1300, errors: 0, counts: [2, 3] },
  ]);
});

test('bars are split by values, and the rest are others, also where clocks were corrected meanwhile', () => {
  const part = (name: string, ...counts: [number, number][]) => ({
    ...{ name, colour: '' },
    counts: counts.map(([startMs, count]) => ({ startMs, count })),
  });
  const parts = [part('7', [1003, 4], [1203, 5]), part('13', [1197, 9])];
  expect(chartBars(histogram, { parts }).map(({ counts }) => counts)).toEqual([
    [4, 0, 3],
    // A record can have several values.
    [5, 9, 0],
  ]);
});

test('small parts of a high bar stay visible, and the last part gives them room', () => {
  expect(stackHeights([1, 0, 999], 100)).toEqual([4, 0, 96]);
  expect(stackHeights([50, 50], 80)).toEqual([40, 40]);
  expect(stackHeights([1, 1, 1], 6)).toEqual([4, 2, 0]);
});

test('only shown levels have bars', () => {
  expect(chartBars(histogram, { minLevel: 'ERROR' }).map(({ errors, counts }) => [errors, ...counts])).toEqual([
    [2, 0, 2],
    [0, 0, 0],
  ]);
  expect(chartBars(histogram, { minLevel: 'INFO' })[0]).toMatchObject({ errors: 2, counts: [0, 7] });
});

test('positions and times are inverse and stay within the chart', () => {
  const span = { fromMs: 1000, toMs: 2000 };
  expect(timeAtFraction(span, fractionOfTime(span, 1250))).toBe(1250);
  expect(fractionOfTime(span, 9999)).toBe(1);
  expect(timeAtFraction(span, -3)).toBe(1000);
});

test('few records next to many stay visible', () => {
  expect(barHeight(1, 10_000)).toBeCloseTo(0.01);
  expect(barHeight(0, 10_000)).toBe(0);
  expect(barHeight(3, 0)).toBe(0);
});

test('uncounted parts are reported on both sides', () => {
  const span = { fromMs: 0, toMs: 1000 };
  expect(uncountedRanges({ counted: { fromMs: 250, toMs: 1000 } }, span)).toEqual([{ from: 0, to: 0.25 }]);
  expect(uncountedRanges({ counted: null }, span)).toEqual([]);
});

test('a bar is found by any time within it', () => {
  const bars = chartBars(histogram);
  expect(barAt(bars, 1299)?.startMs).toBe(1200);
  expect(barAt(bars, 1150)).toBeUndefined();
});
