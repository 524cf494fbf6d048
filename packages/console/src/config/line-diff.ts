import { alignAnchors } from './anchor-lines.ts';
import { matchLines } from './match-lines.ts';

/** One row of two texts side by side: indexes of lines, `null` where one text has nothing. */
export interface DiffRow {
  kind: 'equal' | 'changed' | 'removed' | 'added';
  left: number | null;
  right: number | null;
}

export interface LineDiff {
  rows: DiffRow[];
  /** `false`: the texts differ too much to find the fewest changes in time; they are aligned by lines that occur once. */
  isExact: boolean;
}

/** Lines that are the same in both texts, by index, ascending in both. */
export type LinePairs = readonly (readonly [left: number, right: number])[];

/** More changes than these are not searched for: the work grows with their square. */
export const MAX_CHANGES = 1000;

/** Aligns two texts line by line; every line of both is in exactly one row, in order. */
export function diffLines(left: readonly string[], right: readonly string[], maxChanges = MAX_CHANGES): LineDiff {
  const exact = matchLines(left, right, maxChanges);
  return { rows: diffRows(left, right, exact ?? alignAnchors(left, right)), isExact: exact !== null };
}

interface TwoTexts {
  left: readonly string[];
  right: readonly string[];
}

function diffRows(left: readonly string[], right: readonly string[], pairs: LinePairs): DiffRow[] {
  const rows: DiffRow[] = [];
  let [atLeft, atRight] = [0, 0];
  for (const [pairLeft, pairRight] of [...pairs, [left.length, right.length] as const]) {
    addBlock(rows, indexes(atLeft, pairLeft), indexes(atRight, pairRight), { left, right });
    if (pairLeft < left.length) rows.push({ kind: 'equal', left: pairLeft, right: pairRight });
    [atLeft, atRight] = [pairLeft + 1, pairRight + 1];
  }
  return rows;
}

/** Lines that only one of the texts has: those of the same key stand side by side, and comments with what is in their place. */
function addBlock(rows: DiffRow[], removed: readonly number[], added: readonly number[], texts: TwoTexts): void {
  const isPair = removed.length === 1 && added.length === 1;
  const byKey = indexesByKey(added, texts.right);
  let [from, next] = [0, 0];
  for (const [index, left] of removed.entries()) {
    const waiting = byKey.get(lineKey(texts.left[left]) ?? '\n') ?? [];
    while ((waiting.at(-1) ?? next) < next) waiting.pop();
    const place = isPair ? 0 : waiting.pop();
    const right = place === undefined ? undefined : added[place];
    if (place === undefined || right === undefined) continue;
    addUnkeyed(rows, removed.slice(from, index), added.slice(next, place), texts);
    rows.push({ kind: texts.left[left] === texts.right[right] ? 'equal' : 'changed', left, right });
    [from, next] = [index + 1, place + 1];
  }
  addUnkeyed(rows, removed.slice(from), added.slice(next), texts);
}

/** What stands between lines of the same key: equal lines and comments in pairs, then the rest of both by themselves. */
function addUnkeyed(rows: DiffRow[], removed: readonly number[], added: readonly number[], texts: TwoTexts): void {
  let pairs = 0;
  for (const [index, left] of removed.entries()) {
    const right = added[index];
    const [mine, other] = [texts.left[left], right === undefined ? undefined : texts.right[right]];
    if (right === undefined || (mine !== other && !(isComment(mine) && isComment(other)))) break;
    rows.push({ kind: mine === other ? 'equal' : 'changed', left, right });
    pairs++;
  }
  for (const left of removed.slice(pairs)) rows.push({ kind: 'removed', left, right: null });
  for (const right of added.slice(pairs)) rows.push({ kind: 'added', left: null, right });
}

/** Where lines begin with a key, the last first. */
function indexesByKey(added: readonly number[], lines: readonly string[]): Map<string, number[]> {
  const byKey = new Map<string, number[]>();
  for (const [place, index] of [...added.entries()].reverse()) {
    const head = lineKey(lines[index]);
    if (head === null) continue;
    const known = byKey.get(head);
    if (known) known.push(place);
    else byKey.set(head, [place]);
  }
  return byKey;
}

/** What stands before the value; `null` for lines without one. */
function lineKey(line: string | undefined): string | null {
  const end = line?.indexOf('=') ?? -1;
  return line === undefined || end === -1 || isComment(line) ? null : line.slice(0, end).trim();
}

function isComment(line = ''): boolean {
  return line.trimStart().startsWith('#');
}

function indexes(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, place) => from + place);
}
