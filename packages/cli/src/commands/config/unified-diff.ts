import { type Difference, isSame } from './compare-configs.ts';

const CONTEXT = 3;

export interface DiffLine {
  sign: ' ' | '-' | '+';
  text: string;
}

/** What `diff -u` prints for two sorted lists of `key = value`; empty if they are equal. */
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
      // An empty range starts at the line before it.
      return `${other}${length === 0 ? start : start + 1}${length === 1 ? '' : `,${length}`}`;
    };
    return [`@@ ${range('-')} ${range('+')} @@`, ...hunk.map(({ sign, text }) => sign + text)];
  });
  return [`--- ${names[0]}`, `+++ ${names[1]}`, ...body];
}

/** One line per key and side; within a run of changes removals come first, like in `diff`. */
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

/** Runs of changes with their context; overlapping ones are joined. `to` is exclusive. */
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
