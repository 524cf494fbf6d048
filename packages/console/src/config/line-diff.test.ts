import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedWords, compareSecrets, type DiffRow, diffLines, foldRows, unifiedText } from './line-diff.ts';
import { tomlLines } from './toml-text.ts';

const SIGNS = { equal: ' ', changed: '~', removed: '-', added: '+' };

function formatDiff(left: string, right: string, maxChanges?: number): string[] {
  const [a, b] = [left, right].map((text) => tomlLines(text.replaceAll(' ', '\n'))) as [Lines, Lines];
  return diffLines(a, b, maxChanges).map(
    (row) => `${SIGNS[row.kind]}${a[row.left ?? -1]?.text ?? ''}|${b[row.right ?? -1]?.text ?? ''}`,
  );
}

type Lines = ReturnType<typeof tomlLines>;

describe('two texts', () => {
  it('have a changed line next to the original', () => {
    expect(formatDiff('a b c', 'a x c')).toEqual([' a|a', '~b|x', ' c|c']);
  });

  it('have lines of the same setting next to each other, however many are between', () => {
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

  it('have comments next to each other', () => {
    expect(formatDiff('a # k=1 z', 'a #. k=2 z')).toEqual([' a|a', '~#|#.', '~k=1|k=2', ' z|z']);
  });

  it('that differ too much are aligned by settings', () => {
    const [left, right] = ['[a]\nx=1\n[b]\nx=1\n', '[b]\nx=2\n[a]\nx=1\n[c]\n'].map(tomlLines) as [Lines, Lines];
    const rows = diffLines(left, right, 1);
    expect(rows.find(({ left: index }) => index === 1)).toMatchObject({ kind: 'equal', right: 3 });
  });
});

/** Few distinct lines, so that many are equal. */
const text = fc
  .array(fc.constantFrom('', 'a = 1', 'a = 2', 'b = 1', '[t]', '# c', 'd'), { maxLength: 30 })
  .map((lines) => tomlLines(`${lines.join('\n')}\n.`));

function slowMostCommon(a: Lines, b: Lines): number {
  const most = a.map(() => b.map(() => 0));
  for (const [i, x] of a.entries())
    for (const [j, y] of b.entries()) {
      const row = most[i];
      if (row)
        row[j] = x.text === y.text ? (most[i - 1]?.[j - 1] ?? 0) + 1 : Math.max(most[i - 1]?.[j] ?? 0, row[j - 1] ?? 0);
    }
  return most.at(-1)?.at(-1) ?? 0;
}

describe('for any texts', () => {
  const side = (rows: readonly DiffRow[], name: 'left' | 'right') =>
    rows.flatMap((row) => (row[name] === null ? [] : [row[name]]));

  it('the rows contain both texts in order, and equal rows are equal', () => {
    fc.assert(
      fc.property(text, text, fc.constantFrom(0, 1, 3, 1000), (left, right, maxChanges) => {
        const rows = diffLines(left, right, maxChanges);
        expect(side(rows, 'left')).toEqual([...left.keys()]);
        expect(side(rows, 'right')).toEqual([...right.keys()]);
        for (const row of rows) {
          const [a, b] = [left[row.left ?? -1]?.text, right[row.right ?? -1]?.text];
          if (row.kind === 'equal') expect(a).toBe(b);
          if (row.kind === 'changed') expect([typeof a, typeof b, a === b]).toEqual(['string', 'string', false]);
          if (row.kind === 'removed') expect(row.right).toBe(null);
          if (row.kind === 'added') expect(row.left).toBe(null);
        }
      }),
      { numRuns: runs(500) },
    );
  });

  it('a minimal diff has the maximum number of equal lines', () => {
    fc.assert(
      fc.property(text, text, (left, right) => {
        const rows = diffLines(left, right);
        expect(rows.filter(({ kind }) => kind === 'equal')).toHaveLength(slowMostCommon(left, right));
      }),
      { numRuns: runs(250) },
    );
  });

  it('every row is in exactly one run, and no fold contains a difference', () => {
    const row = fc.integer({ min: 0, max: 9 }).map((one): DiffRow => {
      if (one === 1) return { kind: 'equal', left: 0, right: 0, secret: 'unknown' };
      return { kind: one === 0 ? 'changed' : 'equal', left: 0, right: 0 };
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 80 }), (rows) => {
        const runs = foldRows(rows);
        expect(runs.flatMap(({ start, end }) => rows.slice(start, end))).toEqual(rows);
        for (const [index, { start }] of runs.entries()) expect(start).toBe(runs[index - 1]?.end ?? 0);
        for (const { isFolded, start, end } of runs)
          if (isFolded)
            expect(rows.slice(start, end).every(({ kind, secret }) => kind === 'equal' && secret !== 'unknown')).toBe(
              true,
            );
      }),
    );
  });
});

it('equal rows are folded except around differences', () => {
  const runs = (rows: string) =>
    foldRows([...rows].map((row) => ({ kind: row === '.' ? 'equal' : 'changed', left: 0, right: 0 }))).map(
      ({ isFolded, start, end }) => `${isFolded ? 'fold' : 'show'} ${start}-${end}`,
    );
  expect(runs('..........x..........')).toEqual(['fold 0-6', 'show 6-15', 'fold 15-21']);
  expect(runs('...x...')).toEqual(['show 0-7']);
});

it.each([
  ['dir = "/data/wal"', 'dir = "/mnt/wal"', '/data/wal', '/mnt/wal'],
  ['size = 1', 'size = 1 # why', '', ' # why'],
  ['a a a', 'a a', ' a', ''],
])('what changed in %s', (left, right, removed, added) => {
  const words = changedWords(left, right);
  expect(left.slice(words.left.start, words.left.end)).toBe(removed);
  expect(right.slice(words.right.start, words.right.end)).toBe(added);
});

it('masked lines are equal or not by their fingerprints, and unknown without them', () => {
  const lines = tomlLines('[db]\npassword = "******"\nlevel = "info"\n');
  const side = (fingerprint: string | undefined) => ({ lines, fingerprints: new Map([['db.password', fingerprint]]) });
  const compare = (a: string | undefined, b: string | undefined) =>
    compareSecrets(diffLines(lines, lines), side(a), side(b))[1];
  expect(compare('x', 'y')).toMatchObject({ kind: 'changed', secret: 'different' });
  expect(compare('x', 'x')).toMatchObject({ kind: 'equal', secret: 'equal' });
  expect(compare('x', undefined)).toMatchObject({ kind: 'equal', secret: 'unknown' });
});

it('a difference can be copied', () => {
  const [left, right] = ['a\nb=1\nc', 'a\nb=2\nc\nd'].map(tomlLines) as [Lines, Lines];
  expect(unifiedText(diffLines(left, right), left, right)).toBe(' a\n-b=1\n+b=2\n c\n+d\n');
});
