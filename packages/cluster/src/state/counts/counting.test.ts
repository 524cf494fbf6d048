import { expect, it } from 'vitest';
import { withFloor } from './counting.ts';

it.each([
  ['no floors', undefined, { fromMs: 5 }, { fromMs: 5 }],
  ['a floor', { a: 10 }, {}, { fromMs: 10 }],
  ['a floor before the range', { a: 10 }, { fromMs: 20, toMs: 30 }, { fromMs: 20, toMs: 30 }],
  ['a floor in the range', { a: 10 }, { fromMs: 5, toMs: 30 }, { fromMs: 10, toMs: 30 }],
  ['the floor of all others', { '*': 10, b: 20 }, { toMs: 30 }, { fromMs: 10, toMs: 30 }],
  ['the floor of another member', { b: 10 }, { toMs: 30 }, { toMs: 30 }],
  ['a floor before all times', { '*': 10, a: -8.64e15 }, { toMs: 30 }, { toMs: 30 }],
])('the query of a member with %s', (_what, floors, query, expected) => {
  expect(withFloor(query, floors, 'a')).toEqual(expected);
});

it('a member whose floor is after the range is asked for a time that no record has', () => {
  const { fromMs = 0, toMs = 0 } = withFloor<{ fromMs?: number; toMs?: number }>(
    { fromMs: 5, toMs: 10 },
    { a: 10 },
    'a',
  );
  expect(fromMs).toBeLessThan(toMs);
  expect(new Date(fromMs).getUTCFullYear()).toBe(9999);
});

it('a member with the name of something that every object has gets no floor of it', () => {
  expect(withFloor({}, { b: 10 }, 'constructor')).toEqual({});
});
