import type { DiffRow, LineDiff } from './line-diff.ts';
import type { SettingsByKey } from './setting-marks.ts';
import type { TomlText } from './toml-text.ts';
import { MASK } from './toml-tokens.ts';

/** One node's side. */
export interface PairSide {
  toml: TomlText;
  settings: SettingsByKey;
}

export interface PairRow extends DiffRow {
  /** Of lines that look the same because they are masked the same: what their fingerprints say. */
  secret: 'same' | 'differs' | 'unknown' | null;
}

export interface PairRows {
  rows: PairRow[];
  /** Whether the alignment has the fewest changes; it is too much work for very different texts. */
  isExact: boolean;
  /** Rows that are not the same on both sides. */
  differing: number;
  /** Masked on both sides, without fingerprints to compare. */
  unknownSecrets: number;
}

/** Two configurations line by line, as they were aligned. Masked lines count as changed where their fingerprints differ. */
export function pairRows({ rows, isExact }: LineDiff, left: PairSide, right: PairSide): PairRows {
  const pairs = rows.map((row): PairRow => {
    const secret = row.kind === 'equal' ? compareSecret(row, left, right) : null;
    return { ...row, kind: secret === 'differs' ? 'changed' : row.kind, secret };
  });
  return {
    rows: pairs,
    isExact,
    differing: pairs.filter(({ kind }) => kind !== 'equal').length,
    unknownSecrets: pairs.filter(({ secret }) => secret === 'unknown').length,
  };
}

function compareSecret(row: DiffRow, left: PairSide, right: PairSide): PairRow['secret'] {
  const line = left.toml.lines[row.left ?? -1] ?? '';
  if (!line.includes(MASK)) return null;
  const [leftKey, rightKey] = [left.toml.lineAt(row.left ?? 0).key, right.toml.lineAt(row.right ?? 0).key];
  // A comment, or a line within a value: nothing tells what was there.
  if (leftKey === null || rightKey === null) return null;
  const [mine, other] = [left.settings.get(leftKey)?.fingerprint, right.settings.get(rightKey)?.fingerprint];
  if (mine === undefined || other === undefined || leftKey !== rightKey) return 'unknown';
  return mine === other ? 'same' : 'differs';
}
