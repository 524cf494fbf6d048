import { type Difference, isSame } from './compare-configs.ts';

const CONTEXT = 3;

export interface DiffLine {
  sign: ' ' | '-' | '+';
  text: string;
}

/** What `diff -u` would say about two sorted lists of `key = value`. Without a difference: nothing. */
export function unifiedDiff(names: readonly [string, string], pairs: readonly Difference[]): string[] {
  const lines = diffLines(pairs);
  const hunks = splitHunks(lines);
  if (hunks.length === 0) return [];
  const body = hunks.flatMap(({ from, to }) => {
    const before = lines.slice(0, from);
    const hunk = lines.slice(from, to);
    const range = (other: '-' | '+') => {
      const count = (part: readonly DiffLine[]) => part.filter(({ sign }) => sign === ' ' || sign === other).length;
      const [start, length] = [count(before), count(hunk)];
      // An empty range is named by the line before it.
      return `${other}${length === 0 ? start : start + 1}${length === 1 ? '' : `,${length}`}`;
    };
    return [`@@ ${range('-')} ${range('+')} @@`, ...hunk.map(({ sign, text }) => sign + text)];
  });
  return [`--- ${names[0]}`, `+++ ${names[1]}`, ...body];
}

/** Each key has a line on one side or both; of neighbours that differ, all of one side come first, as `diff` does. */
function diffLines(pairs: readonly Difference[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let added: DiffLine[] = [];
  for (const pair of pairs) {
    const line = (value: Difference['a']) => `${pair.key} = ${JSON.stringify(value)}`;
    if (isSame(pair)) {
      lines.push(...added, { sign: ' ', text: line(pair.a) });
      added = [];
      continue;
    }
    if (pair.a !== undefined) lines.push({ sign: '-', text: line(pair.a) });
    if (pair.b !== undefined) added.push({ sign: '+', text: line(pair.b) });
  }
  return [...lines, ...added];
}

/** Runs of changes with their context; those whose contexts touch are one. `to` is exclusive. */
function splitHunks(lines: readonly DiffLine[]): { from: number; to: number }[] {
  const hunks: { from: number; to: number }[] = [];
  for (const [index, { sign }] of lines.entries()) {
    if (sign === ' ') continue;
    const [from, to] = [Math.max(0, index - CONTEXT), Math.min(lines.length, index + 1 + CONTEXT)];
    const last = hunks.at(-1);
    if (last && from <= last.to) last.to = to;
    else hunks.push({ from, to });
  }
  return hunks;
}
