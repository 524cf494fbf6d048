import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editDistance, MAX_COMPARED_NAMES, nearestNames } from './nearest-names.ts';

test.each([
  ['', '', 0],
  ['a', '', 1],
  ['', 'abc', 3],
  ['abc', 'abc', 0],
  ['abc', 'abd', 1],
  ['abc', 'acb', 1],
  ['abc', 'ab', 1],
  ['abc', 'xabc', 1],
  ['kitten', 'sitting', 3],
])('from %j to %j it is %d edits', (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
  expect(editDistance(b, a)).toBe(distance);
});

/** Tries everything: slow, and obviously right. */
function slowDistance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const [restA, restB] = [a.slice(1), b.slice(1)];
  if (a[0] === b[0]) return slowDistance(restA, restB);
  const ways = [slowDistance(restA, b), slowDistance(a, restB), slowDistance(restA, restB)];
  if (a.length > 1 && b.length > 1 && a[0] === b[1] && a[1] === b[0]) ways.push(slowDistance(a.slice(2), b.slice(2)));
  return 1 + Math.min(...ways);
}

test('a distance with a bound is exact up to the bound, and infinite beyond', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 7 });
  fc.assert(
    fc.property(word, word, fc.nat({ max: 5 }), (a, b, most) => {
      const distance = slowDistance(a, b);
      expect(editDistance(a, b)).toBe(distance);
      expect(editDistance(a, b, most)).toBe(distance <= most ? distance : Number.POSITIVE_INFINITY);
    }),
    { seed: 20261115, numRuns: runs(1000) },
  );
});

describe('the suggestions for a wrong name', () => {
  const names = ['access.log', 'lind-broker.log', 'lind-root.log', 'lind-storage.log', 'show_sql.log'];
  const cases: [string, string[]][] = [
    ['lind-brokre.log', ['lind-broker.log', 'lind-root.log', 'lind-storage.log']],
    ['LIND-ROOT.LOG', ['lind-root.log', 'lind-broker.log']],
    ['broker', ['lind-broker.log']],
    ['acess.log', ['access.log']],
    ['something-else-entirely.txt', []],
    ['x', []],
  ];
  test.each(cases)('%j: %j', (wanted, expected) => {
    expect(nearestNames(wanted, names)).toEqual(expected);
  });

  test('are at most as many as requested', () => {
    expect(nearestNames('lind', names)).toHaveLength(3);
    expect(nearestNames('lind', names, { most: 1 })).toHaveLength(1);
  });

  test('are empty if there are too many names to compare', () => {
    const many = Array.from({ length: MAX_COMPARED_NAMES }, (_, number) => `service-${number}.log`);
    expect(nearestNames('servce-7.log', many)[0]).toBe('service-7.log');
    expect(nearestNames('servce-7.log', [...many, 'one-more.log'])).toEqual([]);
  });

  test('differ in a few letters, however long the wrong one is', () => {
    const long = 'x'.repeat(240);
    expect(nearestNames(`${long}12345678`, [long])).toEqual([long]);
    expect(nearestNames(`${long}123456789`, [long])).toEqual([]);
  });
});
