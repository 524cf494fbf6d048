import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldsResult, TopResult } from './log-source.ts';
import { mergeFieldLists, mergeTops, sharedRange } from './merged-source.ts';

/** The counts of a log, as a node returns them. */
function topOf(values: readonly string[], limit: number): TopResult {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const all = [...counts].map(([value, count]) => ({ value, count }));
  all.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
  const listed = all.slice(0, limit);
  return {
    ...{ by: 'shard', values: listed, missing: 1, distinct: all.length, isExact: true, counted: null, members: [] },
    others: values.length - listed.reduce((sum, { count }) => sum + count, 0),
  };
}

describe('counts by value of several logs', () => {
  const logs = fc.array(fc.array(fc.constantFrom(...'abcdefgh')), { minLength: 1, maxLength: 4 });

  it('are those of all records where every list is complete', () => {
    fc.assert(
      fc.property(logs, fc.integer({ min: 1, max: 9 }), (parts, limit) => {
        const merged = mergeTops(
          parts.map((part) => topOf(part, 100)),
          limit,
        );
        const { members: _, ...expected } = topOf(parts.flat(), limit);
        const values = expected.values.map((value) => expect.objectContaining(value));
        expect(merged).toEqual({ ...expected, values, missing: parts.length });
      }),
      { numRuns: 100 },
    );
  });

  it('are otherwise between the count and the count with its error', () => {
    fc.assert(
      fc.property(logs, fc.integer({ min: 1, max: 3 }), (parts, limit) => {
        const merged = mergeTops(
          parts.map((part) => topOf(part, limit)),
          10,
        );
        const all = parts.flat();
        for (const { value, count, error = 0 } of merged.values) {
          const actual = all.filter((other) => other === value).length;
          expect(actual).toBeGreaterThanOrEqual(count);
          expect(actual).toBeLessThanOrEqual(count + error);
        }
        const sum = merged.values.reduce((total, { count }) => total + count, merged.others);
        expect(sum).toBe(all.length);
        if (merged.isExact) expect(merged.values.every(({ error }) => error === undefined)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

it('fields of several logs are listed once, with all of their records', () => {
  const part = (records: number, name: string): FieldsResult => ({
    fields: [{ name, types: ['number'], records, distinct: 3, isDistinctExact: true, examples: ['1'] }],
    ...{ totalFields: 1, records, isSample: records > 5, counted: null, members: [] },
  });
  const merged = mergeFieldLists([part(2, 'a'), part(7, 'b'), part(6, 'a')], 10);
  expect(merged).toEqual({
    fields: [
      {
        name: 'a',
        types: ['number'],
        records: 8,
        distinct: 3,
        isDistinctExact: false,
        examples: ['1'],
        nodes: { 0: 2, 2: 6 },
      },
      {
        name: 'b',
        types: ['number'],
        records: 7,
        distinct: 3,
        isDistinctExact: true,
        examples: ['1'],
        nodes: { 1: 7 },
      },
    ],
    ...{ totalFields: 2, records: 15, isSample: true, counted: null },
  });
});

it('the counted range is that of all', () => {
  expect(sharedRange([null, null])).toBeNull();
  expect(sharedRange([null, { fromMs: 1, toMs: 9 }, { fromMs: 3, toMs: 10 }])).toEqual({ fromMs: 3, toMs: 9 });
});
