import { describe, expect, test } from 'vitest';
import {
  barAt,
  barHeight,
  chartBars,
  chartSpan,
  fractionOfTime,
  timeAtFraction,
  uncountedRanges,
} from './chart-scale.ts';

const answer = {
  bucketMs: 100,
  buckets: [
    { startMs: 1000, counts: { INFO: 5, ERROR: 1, FATAL: 1 } },
    { startMs: 1200, counts: { WARN: 2, NONE: 3 } },
  ],
  counted: null,
  members: [],
};

describe('the time a chart stands for', () => {
  test.each([
    ['what was asked, when both ends were', { fromMs: 500, toMs: 900 }, { fromMs: 500, toMs: 900 }],
    ['up to now, when only the start was asked', { fromMs: 500 }, { fromMs: 500, toMs: 5000 }],
    ['what was counted, when nothing was asked', {}, { fromMs: 1000, toMs: 1300 }],
  ])('is %s', (_, asked, expected) => {
    expect(chartSpan(answer, { requested: asked, log: null, nowMs: 5000 })).toEqual(expected);
  });

  test('is unknown without any counts', () => {
    expect(chartSpan({ ...answer, buckets: [] }, { requested: {}, log: null, nowMs: 5000 })).toBeNull();
  });

  test('is the whole log, where only a part of it was counted', () => {
    const log = { firstMs: 900, lastMs: 4000 };
    expect(chartSpan(answer, { requested: {}, log, nowMs: 5000 })).toEqual({ fromMs: 900, toMs: 4000 });
  });
});

test('bars are stacked by errors, warnings and all others, those without a level too', () => {
  expect(chartBars(answer)).toEqual([
    { startMs: 1000, endMs: 1100, errors: 2, warnings: 0, others: 5 },
    { startMs: 1200, endMs: 1300, errors: 0, warnings: 2, others: 3 },
  ]);
});

test('only the levels that are shown have bars', () => {
  expect(chartBars(answer, 'ERROR').map(({ errors, warnings, others }) => [errors, warnings, others])).toEqual([
    [2, 0, 0],
    [0, 0, 0],
  ]);
  expect(chartBars(answer, 'INFO')[0]).toMatchObject({ errors: 2, others: 5 });
});

test('places and times are each other’s reverse and stay within the chart', () => {
  const span = { fromMs: 1000, toMs: 2000 };
  expect(timeAtFraction(span, fractionOfTime(span, 1250))).toBe(1250);
  expect(fractionOfTime(span, 9999)).toBe(1);
  expect(timeAtFraction(span, -3)).toBe(1000);
});

test('few records beside many can still be seen', () => {
  expect(barHeight(1, 10_000)).toBeCloseTo(0.01);
  expect(barHeight(0, 10_000)).toBe(0);
  expect(barHeight(3, 0)).toBe(0);
});

test('what was not counted is told on both sides', () => {
  const span = { fromMs: 0, toMs: 1000 };
  expect(uncountedRanges({ counted: { fromMs: 250, toMs: 1000 } }, span)).toEqual([{ from: 0, to: 0.25 }]);
  expect(uncountedRanges({ counted: null }, span)).toEqual([]);
});

test('a bar is found by any time within it', () => {
  const bars = chartBars(answer);
  expect(barAt(bars, 1299)?.startMs).toBe(1200);
  expect(barAt(bars, 1150)).toBeUndefined();
});
