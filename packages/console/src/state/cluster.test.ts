import { expect, test } from 'vitest';
import { colourIn } from './resource.ts';

test('colours follow the order of ids, in any input order', () => {
  expect(['a', 'b', 'c'].map((id) => colourIn(['c', 'a', 'b'], id))).toEqual([1, 2, 3]);
});

test('the ninth node has the colour of the first', () => {
  const ids = Array.from({ length: 9 }, (_, index) => `node-${index}`);
  expect(colourIn(ids, 'node-8')).toBe(1);
});

test('an unknown node always has the same colour', () => {
  const colour = colourIn([], 'stranger');
  expect(colour).toBe(colourIn([], 'stranger'));
  expect(colour).toBeGreaterThanOrEqual(1);
  expect(colour).toBeLessThanOrEqual(8);
});
