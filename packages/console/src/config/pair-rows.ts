import type { DiffRow, LineDiff } from './line-diff.ts';
import type { SettingsByKey } from './setting-values.ts';
import { MASK } from './setting-values.ts';
import type { TomlText } from './toml-text.ts';

/** One node's side. */
export interface PairSide {
  toml: TomlText;
  settings: SettingsByKey;
}

export interface PairRow extends DiffRow {
  /** For lines that look equal because both are masked: what their fingerprints say. Not equal unless they say so. */
  secret: 'same' | 'differs' | 'unknown' | null;
}

export interface PairRows {
  rows: PairRow[];
  /** Whether the diff is minimal; that is too expensive for very different texts. */
  isExact: boolean;
  /** Rows that differ. */
  differing: number;
  /** Rows masked on both sides, without fingerprints to compare. */
  unknownSecrets: number;
}

/** A run of rows that is shown, or of equal rows that is folded. */
interface RowRun {
  isFolded: boolean;
  /** Index of its first row. */
  start: number;
  /** Index after its last row. */
  end: number;
}

/** Equal rows shown around each difference. */
const CONTEXT = 3;

/** Shorter runs are not folded: the fold itself takes a row. */
const MIN_FOLDED = 4;

/** Two configurations side by side. Masked lines count as changed if their fingerprints differ. */
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
  // A comment, or a line within a multi-line value, has no key to look up.
  const [leftKey, rightKey] = [left.toml.lineAt(row.left ?? 0).key, right.toml.lineAt(row.right ?? 0).key];
  const [mine, other] = [
    left.settings.get(leftKey ?? '')?.fingerprint,
    right.settings.get(rightKey ?? '')?.fingerprint,
  ];
  if (mine === undefined || other === undefined || leftKey !== rightKey) return 'unknown';
  return mine === other ? 'same' : 'differs';
}

/** Whether both sides are known to have the same line. */
export function isEqualRow({ kind, secret }: PairRow): boolean {
  return kind === 'equal' && secret !== 'unknown';
}

/** Folds equal rows except around differences. Every row is in exactly one run, in order. */
export function foldRows(isEqual: readonly boolean[]): RowRun[] {
  const runs: RowRun[] = [];
  for (let start = 0; start < isEqual.length; ) {
    let end = start;
    while (end < isEqual.length && isEqual[end] === isEqual[start]) end++;
    if (isEqual[start]) addEqual(runs, { start, end, total: isEqual.length });
    else addShown(runs, start, end);
    start = end;
  }
  return runs;
}

function addEqual(runs: RowRun[], { start, end, total }: { start: number; end: number; total: number }): void {
  const from = start === 0 ? 0 : start + CONTEXT;
  const to = end === total ? end : end - CONTEXT;
  if (to - from < MIN_FOLDED) {
    addShown(runs, start, end);
    return;
  }
  addShown(runs, start, from);
  runs.push({ isFolded: true, start: from, end: to });
  addShown(runs, to, end);
}

function addShown(runs: RowRun[], start: number, end: number): void {
  const last = runs.at(-1);
  if (start === end) return;
  if (last && !last.isFolded) last.end = end;
  else runs.push({ isFolded: false, start, end });
}
