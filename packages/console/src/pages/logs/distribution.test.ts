import { describe, expect, it } from 'vitest';
import { distribution, measureText, parseMeasure } from './distribution.tsx';

it.each([
  ['41', '41'],
  ['-1200', '−1,200'],
  ['0.5', '0.5'],
  ['12ms', '12 ms'],
  ['2.004s', '2.004 s'],
  ['1m30s', '1 min 30 s'],
  ['15µs', '15 µs'],
  ['0s', '0 ns'],
  ['2MiB', '2.0 MiB'],
])('%s is measured, and shown as %s', (text, shown) => {
  const measure = parseMeasure(text);
  expect(measure && measureText(measure)).toBe(shown);
});

it('words, and numbers beyond measure, are not measured', () => {
  expect(['orders', '7 days', '', '1e999', 'a12ms'].map(parseMeasure)).toEqual(new Array(5).fill(undefined));
});

describe('a distribution', () => {
  const ms = (value: number, count = 1) => ({ text: `${value}ms`, count });

  it('has percentiles that occur, weighted by records', () => {
    const found = distribution([ms(100, 1), ms(1, 90), ms(10, 9)]);
    expect(found).toMatchObject({ kind: 'duration', records: 100, left: 0, min: 1e6, max: 1e8 });
    expect(found?.percentiles).toEqual([
      { name: 'p50', value: 1e6 },
      { name: 'p90', value: 1e6 },
      { name: 'p99', value: 1e7 },
    ]);
    expect(found?.bars).toHaveLength(24);
    expect([found?.bars[0], found?.bars[2], found?.bars[23]]).toEqual([90, 9, 1]);
  });

  it('is that of the most frequent kind, and counts the rest', () => {
    const values = [ms(1, 3), { text: '7', count: 2 }, { text: 'none', count: 4 }];
    expect(distribution(values)).toMatchObject({ kind: 'duration', records: 3, left: 6, min: 1e6, max: 1e6 });
    expect(distribution([{ text: 'none', count: 4 }])).toBeNull();
    expect(distribution([])).toBeNull();
  });
});
