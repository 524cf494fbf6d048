import type { SettingEntry } from '@porthole/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines } from './line-diff.ts';
import { foldRows, isEqualRow, type PairSide, pairRows } from './pair-rows.ts';
import { settingsByKey } from './setting-values.ts';
import { TomlText } from './toml-text.ts';

function side(text: string, fingerprints: Record<string, string> = {}): PairSide {
  const settings = Object.entries(fingerprints).map(
    ([key, fingerprint]): SettingEntry => ({
      key,
      value: '******',
      default: null,
      changed: null,
      source: 'file',
      secret: true,
      fingerprint,
    }),
  );
  const toml = new TomlText(text);
  toml.tokenize(toml.lines.length);
  return { toml, settings: settingsByKey(settings) };
}

const compare = (left: PairSide, right: PairSide) =>
  pairRows(diffLines(left.toml.lines, right.toml.lines), left, right);

const text = '[db]\npassword = "******"\nlevel = "info"\n';

describe('masked lines', () => {
  it('differ if their fingerprints differ', () => {
    const { rows, differing } = compare(side(text, { 'db.password': 'a' }), side(text, { 'db.password': 'b' }));
    expect(rows[1]).toEqual({ kind: 'changed', left: 1, right: 1, secret: 'differs' });
    expect(differing).toBe(1);
  });

  it('are equal if their fingerprints are equal', () => {
    const { rows, differing } = compare(side(text, { 'db.password': 'a' }), side(text, { 'db.password': 'a' }));
    expect(rows[1]).toEqual({ kind: 'equal', left: 1, right: 1, secret: 'same' });
    expect(differing).toBe(0);
  });

  it('are counted as not compared without fingerprints', () => {
    const { rows, unknownSecrets } = compare(side(text), side(text, { 'db.password': 'a' }));
    expect(rows[1]?.secret).toBe('unknown');
    expect(unknownSecrets).toBe(1);
  });

  it('are not folded among equal lines unless their fingerprints say that they are', () => {
    const long = `${text}${Array.from({ length: 20 }, (_, index) => `key${index} = 1`).join('\n')}\n`;
    const unknown = compare(side(long), side(long, { 'db.password': 'a' }));
    expect(foldRows(unknown.rows.map(isEqualRow))[0]).toMatchObject({ isFolded: false, start: 0 });
    const same = compare(side(long, { 'db.password': 'a' }), side(long, { 'db.password': 'a' }));
    expect(foldRows(same.rows.map(isEqualRow))).toMatchObject([{ isFolded: true, start: 0 }]);
  });
});

it('counts differing rows', () => {
  const { rows, differing } = compare(side('a = 1\nb = 2\n'), side('a = 1\nb = 3\nc = 4\n'));
  expect(rows.map(({ kind }) => kind)).toEqual(['equal', 'changed', 'added']);
  expect(differing).toBe(2);
});

const formatRuns = (rows: string) =>
  foldRows([...rows].map((row) => row === '.')).map(
    ({ isFolded, start, end }) => `${isFolded ? 'fold' : 'show'} ${start}-${end}`,
  );

it('folds equal rows except around differences', () => {
  expect(formatRuns('..........x..........')).toEqual(['fold 0-7', 'show 7-14', 'fold 14-21']);
  expect(formatRuns('x.............x')).toEqual(['show 0-4', 'fold 4-11', 'show 11-15']);
});

it('every row is in exactly one run, and no fold contains a difference', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.integer({ min: 0, max: 9 }).map((one) => one > 0),
        { maxLength: 80 },
      ),
      (isEqual) => {
        const runs = foldRows(isEqual);
        expect(runs.flatMap(({ start, end }) => isEqual.slice(start, end))).toEqual(isEqual);
        for (const [index, { start }] of runs.entries()) expect(start).toBe(runs[index - 1]?.end ?? 0);
        for (const { isFolded, start, end } of runs)
          if (isFolded) expect(isEqual.slice(start, end)).not.toContain(false);
      },
    ),
  );
});
