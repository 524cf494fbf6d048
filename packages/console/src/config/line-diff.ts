import { diffArrays } from 'diff';

/** One row of the side-by-side view: line indexes, `null` where a side has no line. */
export interface DiffRow {
  kind: 'equal' | 'changed' | 'removed' | 'added';
  left: number | null;
  right: number | null;
}

export interface LineDiff {
  rows: DiffRow[];
  /** `false`: the texts differ too much for a minimal diff and are aligned by their unique lines. */
  isExact: boolean;
}

/** Index pairs of equal lines, ascending in both texts. */
type LinePairs = readonly (readonly [left: number, right: number])[];

/** Beyond this many changes the search is given up: its cost grows with the square. */
const MAX_CHANGES = 1000;

/** Aligns two texts line by line; every line of both is in exactly one row, in order. */
export function diffLines(left: readonly string[], right: readonly string[], maxChanges = MAX_CHANGES): LineDiff {
  const exact = matchLines(left, right, maxChanges);
  return { rows: diffRows(left, right, exact ?? alignAnchors(left, right)), isExact: exact !== null };
}

/** Pairs of a minimal diff; `null` if the texts differ by more than `maxChanges`. */
function matchLines(left: readonly string[], right: readonly string[], maxChanges: number): LinePairs | null {
  const changes = diffArrays([...left], [...right], { maxEditLength: maxChanges });
  if (!changes) return null;
  const pairs: (readonly [number, number])[] = [];
  let [x, y] = [0, 0];
  for (const { added, removed, count } of changes) {
    if (!added && !removed) for (let index = 0; index < count; index++) pairs.push([x + index, y + index]);
    if (!added) x += count;
    if (!removed) y += count;
  }
  return pairs;
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

/** Rows for lines that only one of the texts has: lines with the same key are paired, and so are comments. */
function addBlock(rows: DiffRow[], removed: readonly number[], added: readonly number[], texts: TwoTexts): void {
  const isPair = removed.length === 1 && added.length === 1;
  const byKey = indexesByKey(added, texts.right);
  let [from, next] = [0, 0];
  for (const [index, left] of removed.entries()) {
    const waiting = byKey.get(lineKey(texts.left[left]) ?? '\n') ?? [];
    while ((waiting.at(-1) ?? next) < next) waiting.pop();
    const position = isPair ? 0 : waiting.pop();
    const right = position === undefined ? undefined : added[position];
    if (position === undefined || right === undefined) continue;
    addUnkeyed(rows, removed.slice(from, index), added.slice(next, position), texts);
    rows.push({ kind: texts.left[left] === texts.right[right] ? 'equal' : 'changed', left, right });
    [from, next] = [index + 1, position + 1];
  }
  addUnkeyed(rows, removed.slice(from), added.slice(next), texts);
}

/** Rows between lines with the same key: pairs of equal lines and comments first, then the rest of each side. */
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

/** Indexes of lines by key, last one first. */
function indexesByKey(added: readonly number[], lines: readonly string[]): Map<string, number[]> {
  const byKey = new Map<string, number[]>();
  for (const [position, index] of [...added.entries()].reverse()) {
    const head = lineKey(lines[index]);
    if (head === null) continue;
    const known = byKey.get(head);
    if (known) known.push(position);
    else byKey.set(head, [position]);
  }
  return byKey;
}

/** The key in front of the value; `null` for lines without one. */
function lineKey(line: string | undefined): string | null {
  const end = line?.indexOf('=') ?? -1;
  return line === undefined || end === -1 || isComment(line) ? null : line.slice(0, end).trim();
}

function isComment(line = ''): boolean {
  return line.trimStart().startsWith('#');
}

function indexes(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, position) => from + position);
}

/**
 * Aligns two texts by the lines that occur exactly once in each: the longest sequence of them that is in the same order
 * in both. Used when the texts differ too much for a full diff. O(n log n).
 */
function alignAnchors(left: readonly string[], right: readonly string[]): LinePairs {
  const indexes = uniqueLineIndexes(right);
  const candidates: (readonly [number, number])[] = [];
  for (const [line, lineIndex] of uniqueLineIndexes(left)) {
    const other = indexes.get(line);
    if (lineIndex !== null && other !== null && other !== undefined) candidates.push([lineIndex, other]);
  }
  return longestAscending(candidates.sort(([a], [b]) => a - b));
}

/** Index of each line; `null` for lines that occur more than once. */
function uniqueLineIndexes(lines: readonly string[]): Map<string, number | null> {
  const indexes = new Map<string, number | null>();
  for (const [index, line] of lines.entries()) indexes.set(line, indexes.has(line) ? null : index);
  return indexes;
}

/** Patience sorting by the right index: the top of each pile links to the top of the pile before it. */
function longestAscending(candidates: LinePairs): LinePairs {
  const piles: number[] = [];
  const below: number[] = [];
  for (const [index, [, lineIndex]] of candidates.entries()) {
    const pile = pileFor(lineIndex, piles, candidates);
    below.push(pile === 0 ? -1 : (piles[pile - 1] ?? -1));
    piles[pile] = index;
  }
  const longest: (readonly [number, number])[] = [];
  for (let index = piles.at(-1) ?? -1; index !== -1; index = below[index] ?? -1) {
    const pair = candidates[index];
    if (pair) longest.push(pair);
  }
  return longest.reverse();
}

function pileFor(lineIndex: number, piles: readonly number[], candidates: LinePairs): number {
  let [low, high] = [0, piles.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((candidates[piles[middle] ?? 0]?.[1] ?? 0) < lineIndex) low = middle + 1;
    else high = middle;
  }
  return low;
}
