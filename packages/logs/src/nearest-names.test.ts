import { describe, expect, test } from 'vitest';
import { editDistance, nearestNames } from './nearest-names.ts';

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

describe('the names a wrong one may have meant', () => {
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

  test('are at most as many as asked for', () => {
    expect(nearestNames('lind', names)).toHaveLength(3);
    expect(nearestNames('lind', names, { most: 1 })).toHaveLength(1);
  });
});
