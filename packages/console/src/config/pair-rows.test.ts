import type { SettingEntry } from '@porthole/client';
import { describe, expect, it } from 'vitest';
import { diffLines } from './line-diff.ts';
import { type PairSide, pairRows } from './pair-rows.ts';
import { settingsByKey } from './setting-marks.ts';
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

describe('masked lines, which look the same', () => {
  it('are different where their fingerprints are', () => {
    const { rows, differing } = compare(side(text, { 'db.password': 'a' }), side(text, { 'db.password': 'b' }));
    expect(rows[1]).toEqual({ kind: 'changed', left: 1, right: 1, secret: 'differs' });
    expect(differing).toBe(1);
  });

  it('are the same where their fingerprints are', () => {
    const { rows, differing } = compare(side(text, { 'db.password': 'a' }), side(text, { 'db.password': 'a' }));
    expect(rows[1]).toEqual({ kind: 'equal', left: 1, right: 1, secret: 'same' });
    expect(differing).toBe(0);
  });

  it('are not known to be the same without fingerprints, which is counted', () => {
    const { rows, unknownSecrets } = compare(side(text), side(text, { 'db.password': 'a' }));
    expect(rows[1]?.secret).toBe('unknown');
    expect(unknownSecrets).toBe(1);
  });

  it('in a comment are nothing to compare', () => {
    expect(compare(side('# "******"'), side('# "******"')).unknownSecrets).toBe(0);
  });
});

it('what differs is counted', () => {
  const { rows, differing } = compare(side('a = 1\nb = 2\n'), side('a = 1\nb = 3\nc = 4\n'));
  expect(rows.map(({ kind }) => kind)).toEqual(['equal', 'changed', 'added']);
  expect(differing).toBe(2);
});
