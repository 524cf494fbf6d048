import type { Top } from '@porthole/logs';
import pico from 'picocolors';
import { describe, expect, it } from 'vitest';
import { displayWidth } from './fit-columns.ts';
import { formatTop, sparkline } from './format-top.ts';

const TOP = {
  by: 'shard',
  values: [
    { value: '13', count: 1200 },
    { value: 'a very long name of a shard that does not fit', count: 300 },
    { value: '', count: 1 },
  ],
  others: 99,
  missing: 400,
  distinct: 40,
  isExact: true,
} as Top;

function lines(top: Top, columns = Number.POSITIVE_INFINITY): string[] {
  return formatTop(top, { colors: pico.createColors(false), columns })
    .trimEnd()
    .split('\n');
}

describe('counts by value', () => {
  it('are a row per value with its share and a bar, then the others and the records without', () => {
    expect(lines(TOP, 60)).toEqual([
      'shard                                 COUNT  SHARE',
      '13                                     1200  60.0%  ########',
      'a very long name o…that does not fit    300  15.0%  ##',
      '""                                        1   0.1%  #',
      'others (37 values)                       99   5.0%',
      'without shard                           400  20.0%',
    ]);
  });

  it.each([100, 80, 40, 31])('fit %d columns', (columns) => {
    for (const line of lines(TOP, columns)) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
  });

  it('mark what is a lower bound and what is estimated', () => {
    const estimated = { ...TOP, values: [{ value: '13', count: 1200, error: 7 }], missing: 0, isExact: false };
    expect(lines(estimated).map((line) => line.replace(/ +#*/g, ' ').trim())).toEqual([
      'shard COUNT SHARE',
      '13 >=1200 92.4%',
      'others (~39 values) ~99 7.6%',
    ]);
  });

  it('show counts over time instead of bars where they are known', () => {
    const buckets = [
      { startMs: 0, count: 1 },
      { startMs: 3000, count: 8 },
    ];
    const [, first] = lines({ ...TOP, values: [{ value: '13', count: 9, buckets }], bucketMs: 1000 }, 40);
    expect(first).toMatch(/^13 .* ▂ {2}█$/);
  });
});

describe('a sparkline', () => {
  const range = { fromMs: 1000, toMs: 5000 };
  const buckets = [
    { startMs: 1000, count: 1 },
    { startMs: 2000, count: 4 },
    { startMs: 4000, count: 8 },
  ];

  it.each([
    [4, '▂▅ █'],
    [2, '▆█'],
    [1, '█'],
    [0, ''],
  ])('of %d cells is %j', (width, line) => {
    expect(sparkline(buckets, range, width)).toBe(line);
  });
});
