import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DiffRow, diffLines } from './line-diff.ts';

const SIGNS = { equal: ' ', changed: '~', removed: '-', added: '+' };

function formatDiff(left: string, right: string, maxChanges?: number): string[] {
  const [a, b] = [left.split(' '), right.split(' ')];
  return diffLines(a, b, maxChanges).rows.map(
    ({ kind, left: x, right: y }) => `${SIGNS[kind]}${x === null ? '' : a[x]}|${y === null ? '' : b[y]}`,
  );
}

describe('two texts side by side', () => {
  it('have a changed line next to the original', () => {
    expect(formatDiff('a b c', 'a x c')).toEqual([' a|a', '~b|x', ' c|c']);
  });

  it('align lines with the same key, however many are between', () => {
    expect(formatDiff('a k=1 x=1 m=1 z', 'a n=0 o=0 k=2 m=2 z')).toEqual([
      ' a|a',
      '+|n=0',
      '+|o=0',
      '~k=1|k=2',
      '-x=1|',
      '~m=1|m=2',
      ' z|z',
    ]);
  });

  it('align comments at the same position', () => {
    expect(formatDiff('a # k=1 z', 'a #. k=2 z')).toEqual([' a|a', '~#|#.', '~k=1|k=2', ' z|z']);
  });

  it('that differ too much are aligned by unique lines', () => {
    expect(diffLines(['p', 'a', 'q', 'a', 'b'], ['r', 'a', 'p', 'a', 'b'], 1)).toEqual({
      isExact: false,
      rows: [
        { kind: 'added', left: null, right: 0 },
        { kind: 'added', left: null, right: 1 },
        { kind: 'equal', left: 0, right: 2 },
        { kind: 'equal', left: 1, right: 3 },
        { kind: 'removed', left: 2, right: null },
        { kind: 'removed', left: 3, right: null },
        { kind: 'equal', left: 4, right: 4 },
      ],
    });
  });
});

/** Few distinct lines, so that many are equal. */
const text = fc.array(fc.constantFrom('', 'a = 1', 'a = 2', 'b = 1', '[t]', '# c', 'd'), { maxLength: 30 });

function slowMostCommon(a: readonly string[], b: readonly string[]): number {
  const most = a.map(() => b.map(() => 0));
  for (const [i, x] of a.entries())
    for (const [j, y] of b.entries()) {
      const row = most[i];
      if (row) row[j] = x === y ? (most[i - 1]?.[j - 1] ?? 0) + 1 : Math.max(most[i - 1]?.[j] ?? 0, row[j - 1] ?? 0);
    }
  return most.at(-1)?.at(-1) ?? 0;
}

describe('for any texts', () => {
  const side = (rows: readonly DiffRow[], name: 'left' | 'right') =>
    rows.flatMap((row) => (row[name] === null ? [] : [row[name]]));

  it('the rows contain both texts in order, and equal rows are equal', () => {
    fc.assert(
      fc.property(text, text, fc.constantFrom(0, 1, 3, 1000), (left, right, maxChanges) => {
        const { rows } = diffLines(left, right, maxChanges);
        expect(side(rows, 'left')).toEqual([...left.keys()]);
        expect(side(rows, 'right')).toEqual([...right.keys()]);
        for (const row of rows) {
          const [a, b] = [left[row.left ?? -1], right[row.right ?? -1]];
          if (row.kind === 'equal') expect(a).toBe(b);
          if (row.kind === 'changed') expect([typeof a, typeof b, a === b]).toEqual(['string', 'string', false]);
          if (row.kind === 'removed') expect(row.right).toBe(null);
          if (row.kind === 'added') expect(row.left).toBe(null);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('a minimal diff has the maximum number of equal lines', () => {
    fc.assert(
      fc.property(text, text, (left, right) => {
        const { rows, isExact } = diffLines(left, right);
        expect(isExact).toBe(true);
        expect(rows.filter(({ kind }) => kind === 'equal')).toHaveLength(slowMostCommon(left, right));
      }),
      { numRuns: 1000 },
    );
  });
});
