import type { TopValue } from '@porthole/logs/types';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareValues, mergeTop, type TopSource } from './merge-counts.ts';

/** Counts of a member's records by value, as a node returns them: the first of its values, in order. */
function topOf(values: readonly string[], limit: number): TopSource['top'] {
  const counts = countValues(values);
  const listed = counts.slice(0, limit);
  return {
    values: listed,
    others: values.length - listed.reduce((sum, { count }) => sum + count, 0),
    missing: 1,
    distinct: counts.length,
    isExact: true,
  };
}

function countValues(values: readonly string[]): TopValue[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => ({ value, count })).sort(compareValues);
}

/** As a node that ran out of memory counts: a few less of each value, which it says. */
function undercounted(top: TopSource['top'], error: number): TopSource['top'] {
  const values = top.values
    .filter(({ count }) => count > error)
    .map(({ value, count }) => ({ value, count: count - error, error }));
  const before = top.values.reduce((sum, { count }) => sum + count, 0);
  const after = values.reduce((sum, { count }) => sum + count, 0);
  return { ...top, values, others: top.others + before - after, isExact: false };
}

const members = fc.array(fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', '__proto__'), { maxLength: 40 }), {
  minLength: 1,
  maxLength: 4,
});

function memberTops(all: readonly (readonly string[])[], toTop: (values: readonly string[]) => TopSource['top']) {
  return all.map((values, index): TopSource => ({ id: `n${index}`, top: toTop(values) }));
}

it('complete lists of members merge to what one node with all of their records would count', () => {
  fc.assert(
    fc.property(members, fc.integer({ min: 1, max: 8 }), (all, limit) => {
      const tops = memberTops(all, (values) => topOf(values, 100));
      const { values, ...merged } = mergeTop(tops, { limit, areGiven: false });
      const expected = topOf(all.flat(), limit);
      expect({ ...merged, values: values.map(({ nodes: _nodes, ...value }) => value) }).toEqual({
        ...expected,
        missing: all.length,
      });
      for (const { value, nodes } of values)
        for (const [index, own] of all.entries())
          expect(nodes[`n${index}`] ?? 0).toBe(own.filter((each) => each === value).length);
    }),
  );
});

it('incomplete lists and lower bounds: the true count is within the error, nothing is lost, and exact is exact', () => {
  fc.assert(
    fc.property(members, fc.integer({ min: 1, max: 4 }), fc.nat({ max: 2 }), (all, listed, lost) => {
      const tops = memberTops(all, (values) => {
        const top = topOf(values, listed);
        return lost === 0 ? top : undercounted(top, lost);
      });
      const merged = mergeTop(tops, { limit: 3, areGiven: false });
      const truth = new Map(countValues(all.flat()).map(({ value, count }) => [value, count]));
      for (const { value, count, error = 0 } of merged.values) {
        expect(truth.get(value)).toBeGreaterThanOrEqual(count);
        expect(truth.get(value)).toBeLessThanOrEqual(count + error);
      }
      const counted = merged.values.reduce((sum, { count }) => sum + count, 0);
      expect(counted + merged.others).toBe(all.flat().length);
      expect(merged.distinct).toBeLessThanOrEqual(truth.size);
      if (!merged.isExact) return;
      expect(merged.distinct).toBe(truth.size);
      const { values } = topOf(all.flat(), Math.min(3, merged.values.length));
      expect(merged.values.map(({ value, count }) => ({ value, count }))).toEqual(values);
    }),
  );
});

it('values that were given by name are exact, also where a member does not list them', () => {
  const tops = memberTops(
    [
      ['a', 'a', 'x'],
      ['b', 'x', 'x'],
    ],
    (values) => {
      const given = countValues(values.filter((value) => value !== 'x'));
      return { ...topOf(values, 0), values: given, others: values.filter((value) => value === 'x').length };
    },
  );
  expect(mergeTop(tops, { limit: 2, areGiven: true })).toMatchObject({
    values: [
      { value: 'a', count: 2, nodes: { n0: 2 } },
      { value: 'b', count: 1, nodes: { n1: 1 } },
    ],
    others: 3,
    isExact: true,
  });
});
