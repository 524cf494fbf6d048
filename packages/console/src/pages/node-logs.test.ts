import { expect, test } from 'vitest';
import { nodeLogs } from './file-families.ts';

const file = (node: string, name: string, family: string, size: number, lastTimeMs: number | null = null) => ({
  ...{ node, name, family, size, lastTimeMs, firstTimeMs: null, modifiedMs: null, compressed: false, problem: null },
  state: name === family ? ('live' as const) : ('rotated' as const),
  format: 'contract' as const,
});

test('files of a log are grouped, with summed sizes and joined times', () => {
  const files = [
    file('b', 'x.log', 'x.log', 5, 300),
    file('b', 'x-1.log', 'x.log', 7, 100),
    file('a', 'y.log', 'y.log', 1),
  ];
  expect(nodeLogs(files)).toEqual([
    { node: 'a', families: [{ name: 'y.log', rotated: 0, bytes: 1, firstMs: null, lastMs: null }] },
    { node: 'b', families: [{ name: 'x.log', rotated: 1, bytes: 12, firstMs: 100, lastMs: 300 }] },
  ]);
});
