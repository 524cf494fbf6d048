import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { FieldTable } from './field-table.ts';
import { DistinctSketch, ValueCounts } from './value-counts.ts';
import { boundedValue, shownValue } from './value-table.ts';

interface Occurrence {
  value: string;
  bucket: number;
}

/** Some values often, many once. */
const occurrence: fc.Arbitrary<Occurrence> = fc.record({
  value: fc.oneof(
    fc.constantFrom('a', 'b', 'c', 'ä'),
    fc.nat(30).map((number) => `v${number}`),
    fc.nat(10_000).map((number) => `rare${number}`),
  ),
  bucket: fc.nat(5),
});

function countAll(occurrences: readonly Occurrence[], limits: { maxValues?: number; maxCells?: number }): ValueCounts {
  const counts = new ValueCounts(limits);
  for (const { value, bucket } of occurrences) {
    const id = counts.idFor(value);
    counts.add(id);
    counts.addCell(id, bucket);
  }
  return counts;
}

/** By value and bucket. */
function slowCounts(occurrences: readonly Occurrence[]): Map<string, Map<number, number>> {
  const counts = new Map<string, Map<number, number>>();
  for (const { value, bucket } of occurrences) {
    const known = counts.get(value) ?? new Map<number, number>();
    counts.set(value, known.set(bucket, (known.get(bucket) ?? 0) + 1));
  }
  return counts;
}

const sum = (counts: Iterable<number>) => [...counts].reduce((a, b) => a + b, 0);

describe('counts of values', () => {
  test('are exact up to the limit, and within the stated bound beyond it, in one table or merged from several', () => {
    const parts = fc.array(fc.array(occurrence, { maxLength: 200 }), { minLength: 1, maxLength: 4 });
    const limits = fc.record({ maxValues: fc.constantFrom(4, 10, 64, 5000), maxCells: fc.constantFrom(5, 40, 5000) });
    fc.assert(
      fc.property(parts, limits, (occurrences, { maxValues, maxCells }) => {
        const merged = new ValueCounts({ maxValues, maxCells });
        for (const part of occurrences) merged.merge(countAll(part, { maxValues, maxCells }).pack());
        const expected = slowCounts(occurrences.flat());
        const found = merged.mostFrequent(Number.POSITIVE_INFINITY);
        const all = occurrences.flat().length;
        expect(merged.total).toBe(all);
        expect(found.length).toBeLessThanOrEqual(maxValues);
        if (expected.size <= maxValues) expect([merged.isExact, merged.distinct()]).toEqual([true, expected.size]);
        for (const { value, count, error } of found) {
          const real = sum(expected.get(value)?.values() ?? []);
          expect(count).toBeLessThanOrEqual(real);
          expect(count + error).toBeGreaterThanOrEqual(real);
          expect(error).toBeLessThanOrEqual((2 * all) / maxValues);
          if (merged.isExact) expect(error).toBe(0);
        }
        const missing = [...expected].filter(([value]) => !found.some((other) => other.value === value));
        for (const [, counts] of missing) expect(sum(counts.values())).toBeLessThanOrEqual((2 * all) / maxValues);
        const cells = merged.cellsFor(found.map(({ id }) => id));
        for (const { value, id } of found) if (cells.has(id)) expect(cells.get(id)).toEqual(expected.get(value));
        if (expected.size * 6 <= maxCells && merged.isExact) expect(cells.size).toBe(expected.size);
      }),
    );
  });

  test('are listed by count, equal ones in the order of their texts', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '\ue000', '\uffff', '😀', '世'), maxLength: 4 });
    fc.assert(
      fc.property(fc.array(text), (texts) => {
        const counts = countAll(
          texts.map((value) => ({ value, bucket: 0 })),
          {},
        );
        const expected = [...slowCounts(texts.map((value) => ({ value, bucket: 0 })))].sort(([a, x], [b, y]) => {
          return sum(y.values()) - sum(x.values()) || (a < b ? -1 : 1);
        });
        expect(counts.mostFrequent(5).map(({ value }) => value)).toEqual(expected.slice(0, 5).map(([value]) => value));
      }),
    );
  });

  test('start again in the memory of others', () => {
    const counts = countAll(
      [...'abcdefabc'].map((value) => ({ value, bucket: 1 })),
      { maxValues: 4, maxCells: 2 },
    );
    expect(counts.isExact).toBe(false);
    counts.clear();
    for (const value of ['x', 'a', 'x']) {
      const id = counts.idFor(value);
      counts.add(id);
      counts.addCell(id, 7);
    }
    const found = counts.mostFrequent(10);
    expect(found.map(({ value, count, error }) => [value, count, error])).toEqual([
      ['x', 2, 0],
      ['a', 1, 0],
    ]);
    expect([counts.total, counts.isExact, counts.distinct()]).toEqual([3, true, 2]);
    expect([...counts.cellsFor([0, 1]).values()]).toEqual([new Map([[7, 2]]), new Map([[7, 1]])]);
  });

  test('keep those of frequent values over time, whatever else is counted', () => {
    const occurrences = Array.from({ length: 3000 }, (_, index) => ({
      value: index % 3 === 0 ? 'frequent' : `rare${index}`,
      bucket: index % 10,
    }));
    const counts = countAll(occurrences, { maxCells: 100 });
    const cells = counts.cellsFor([counts.idFor('frequent')]);
    expect(cells.get(counts.idFor('frequent'))).toEqual(slowCounts(occurrences).get('frequent'));
  });
});

describe('an estimate of different texts', () => {
  test.each([0, 1, 100, 5000, 20_000, 200_000])('is within 5 % of %i', (number) => {
    const halves = [new DistinctSketch(), new DistinctSketch()] as const;
    for (let index = 0; index < number; index++) {
      halves[index % 2 === 0 ? 0 : 1].add(`trace-${index}`);
      halves[0].add(`trace-${index % 7 === 0 ? index : 0}`);
    }
    halves[0].merge(halves[1]);
    expect(Math.abs(halves[0].estimate() - number)).toBeLessThanOrEqual(number * 0.05);
  });
});

describe('a long value', () => {
  test('is identified by its start and all of its text, and shown cut', () => {
    const long = 'x'.repeat(300);
    expect(boundedValue('x'.repeat(256))).toBe('x'.repeat(256));
    expect(boundedValue(`${long}1`)).not.toBe(boundedValue(`${long}2`));
    expect(boundedValue(long).length).toBeLessThan(300);
    expect(shownValue(boundedValue(long))).toBe(`${'x'.repeat(255)}…`);
    expect(shownValue(boundedValue(`${'x'.repeat(254)}😀${long}`))).toBe(`${'x'.repeat(254)}…`);
    expect(shownValue('a…\0b')).toBe('a…\0b');
  });
});

it('types that only a few values seem to have are left out', () => {
  const table = new FieldTable();
  const count = (text: string, times: number) => {
    for (let time = 0; time < times; time++) table.count([{ name: 'trace', text, kind: 'string' }]);
  };
  count('50177f0e', 90);
  count('13', 6);
  count('12345678', 1);
  count('1234567d', 3);
  expect(table.summaries(1)).toMatchObject([{ types: ['text', 'number'], records: 100, distinct: 4 }]);
});
