import { diffArrays } from 'diff';
import { MASK } from '../ui/format.ts';
import type { LineRange, TomlLine } from './toml-text.ts';

/** One row: line indexes, `null` where a side has no line. */
export interface DiffRow {
  kind: 'equal' | 'changed' | 'removed' | 'added';
  left: number | null;
  right: number | null;
  /** Both lines are masked: what their fingerprints say. Not equal unless they say so. */
  secret?: 'equal' | 'different' | 'unknown';
}

/**
 * Beyond this many changes the search for the fewest is given up, since its cost grows with the square: then only lines
 * of the same setting are beside each other.
 */
const MAX_CHANGES = 1000;

type Lines = readonly Pick<TomlLine, 'text' | 'key'>[];

/** Aligns two texts line by line; every line of both is in exactly one row, in order. */
export function diffLines(left: Lines, right: Lines, maxChanges = MAX_CHANGES): DiffRow[] {
  const texts = (lines: Lines) => lines.map(({ text }) => text);
  const changes = diffArrays(texts(left), texts(right), { maxEditLength: maxChanges });
  const rows: DiffRow[] = [];
  let x = 0;
  let y = 0;
  let start: [number, number] = [0, 0];
  for (const { added, removed, count } of changes ?? []) {
    if (!added && !removed) {
      addBlock(rows, { left, right }, { from: start, to: [x, y] });
      for (let index = 0; index < count; index++) rows.push({ kind: 'equal', left: x + index, right: y + index });
      start = [x + count, y + count];
    }
    if (!added) x += count;
    if (!removed) y += count;
  }
  addBlock(rows, { left, right }, { from: start, to: [left.length, right.length] });
  return rows;
}

interface Block {
  from: readonly [left: number, right: number];
  to: readonly [left: number, right: number];
}

/** Rows of lines that only one of the texts has: those of the same setting, and comments, are beside each other. */
function addBlock(rows: DiffRow[], { left, right }: { left: Lines; right: Lines }, { from, to }: Block): void {
  let [x, y] = from;
  const isSingle = to[0] - x === 1 && to[1] - y === 1;
  const byKey = new Map<string, number>();
  for (let index = to[1] - 1; index >= y; index--) {
    const key = right[index]?.key;
    if (key) byKey.set(key, index);
  }
  const isComment = (line: Lines[number] | undefined) => line?.text.trimStart().startsWith('#') ?? false;
  for (; x < to[0]; x++) {
    const line = left[x];
    const known = line?.key ? byKey.get(line.key) : undefined;
    const isBeside = y < to[1] && (line?.text === right[y]?.text || (isComment(line) && isComment(right[y])));
    const pair = isSingle ? y : known !== undefined && known >= y ? known : isBeside ? y : undefined;
    if (pair === undefined) {
      rows.push({ kind: 'removed', left: x, right: null });
      continue;
    }
    for (; y < pair; y++) rows.push({ kind: 'added', left: null, right: y });
    rows.push({ kind: line?.text === right[y]?.text ? 'equal' : 'changed', left: x, right: y });
    y++;
  }
  for (; y < to[1]; y++) rows.push({ kind: 'added', left: null, right: y });
}

/** A text and the fingerprints of its secrets, by key. */
interface SecretSide {
  lines: Lines;
  fingerprints: ReadonlyMap<string, string | undefined>;
}

/** What is known of lines that are masked in both texts. Lines with different secrets count as changed. */
export function compareSecrets(rows: readonly DiffRow[], left: SecretSide, right: SecretSide): DiffRow[] {
  return rows.map((row): DiffRow => {
    const mine = left.lines[row.left ?? -1];
    const other = right.lines[row.right ?? -1];
    if (row.kind !== 'equal' || !mine?.text.includes(MASK)) return row;
    // A comment, or a line within a value of several lines, has no key.
    const a = left.fingerprints.get(mine.key ?? '');
    const b = right.fingerprints.get(other?.key ?? '');
    if (a === undefined || b === undefined || mine.key !== other?.key) return { ...row, secret: 'unknown' };
    return a === b ? { ...row, secret: 'equal' } : { ...row, kind: 'changed', secret: 'different' };
  });
}

/** Words, spaces and signs; a path or a duration is a word. */
const WORD = /[\w./:+-]+|\s+|[^\w\s]/g;

/** What changed within a line: the words between those that both begin and both end with. */
export function changedWords(left: string, right: string): { left: LineRange; right: LineRange } {
  const a = left.match(WORD) ?? [];
  const b = right.match(WORD) ?? [];
  let start = 0;
  let same = 0;
  while (same < Math.min(a.length, b.length) && a[same] === b[same]) start += a[same++]?.length ?? 0;
  let end = 0;
  let tail = 1;
  while (tail <= Math.min(a.length, b.length) - same && a.at(-tail) === b.at(-tail)) end += a.at(-tail++)?.length ?? 0;
  return { left: { start, end: left.length - end }, right: { start, end: right.length - end } };
}

/** A run of rows that is shown, or of equal rows that is folded. */
interface RowRun {
  isFolded: boolean;
  start: number;
  /** Index after its last row. */
  end: number;
}

/** Equal rows shown around each difference. */
const CONTEXT = 4;

/** Shorter runs are not folded: the fold itself takes a row. */
const MIN_FOLDED = 4;

/** Folds equal rows except around differences. Every row is in exactly one run, in order. */
export function foldRows(rows: readonly DiffRow[]): RowRun[] {
  const runs: RowRun[] = [];
  const add = (isFolded: boolean, start: number, end: number) => {
    const last = runs.at(-1);
    if (last && last.isFolded === isFolded) last.end = end;
    else if (start < end) runs.push({ isFolded, start, end });
  };
  const isEqual = (index: number) => rows[index]?.kind === 'equal' && rows[index]?.secret !== 'unknown';
  for (let start = 0; start < rows.length; ) {
    let end = start + 1;
    while (end < rows.length && isEqual(end) === isEqual(start)) end++;
    const from = start === 0 ? 0 : start + CONTEXT;
    const to = end === rows.length ? end : end - CONTEXT;
    if (isEqual(start) && to - from >= MIN_FOLDED) {
      add(false, start, from);
      add(true, from, to);
      add(false, to, end);
    } else add(false, start, end);
    start = end;
  }
  return runs;
}

/** The rows as a unified diff, for the clipboard. */
export function unifiedText(rows: readonly DiffRow[], left: Lines, right: Lines): string {
  const lines = foldRows(rows).flatMap(({ isFolded, start, end }) => {
    if (isFolded) return [`@@ ${end - start} equal lines @@`];
    return rows.slice(start, end).flatMap((row) => {
      if (row.kind === 'equal') return [` ${left[row.left ?? -1]?.text}`];
      const removed = row.left === null ? [] : [`-${left[row.left]?.text}`];
      return row.right === null ? removed : [...removed, `+${right[row.right]?.text}`];
    });
  });
  return `${lines.join('\n')}\n`;
}
