/** Beyond three edits a suggestion is a guess. */
const MAX_EDITS = 3;

/**
 * The candidate a misspelt word most likely means, or `undefined` when none is near. Letter case does not count; an
 * exchange of two neighbours (`prot`) is one edit; at most a third of the letters may differ. The first of equals wins.
 */
export function closestMatch(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestEdits = MAX_EDITS + 1;
  for (const candidate of candidates) {
    const allowed = Math.min(bestEdits - 1, Math.floor(Math.max(wanted.length, candidate.length) / 3));
    const edits = countEdits(wanted, candidate.toLowerCase(), allowed);
    if (edits > allowed) continue;
    if (edits === 0) return candidate;
    best = candidate;
    bestEdits = edits;
  }
  return best;
}

/** Edits (insert, delete, replace, exchange of neighbours) from `a` to `b`; counting stops once above `allowed`. */
function countEdits(a: string, b: string, allowed: number): number {
  if (Math.abs(a.length - b.length) > allowed) return allowed + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= b.length; column++) {
      const edits = cheapestEdit({ a, b, row, column, current, last, beforeLast });
      current.push(edits);
      least = Math.min(least, edits);
    }
    if (least > allowed) return allowed + 1;
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

interface Cell {
  a: string;
  b: string;
  row: number;
  column: number;
  current: number[];
  last: number[];
  beforeLast: number[];
}

function cheapestEdit({ a, b, row, column, current, last, beforeLast }: Cell): number {
  const same = a[row - 1] === b[column - 1];
  const replaced = cost(last, column - 1) + (same ? 0 : 1);
  const edits = Math.min(replaced, cost(last, column) + 1, cost(current, column - 1) + 1);
  const exchanged = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
  return exchanged ? Math.min(edits, cost(beforeLast, column - 2) + 1) : edits;
}

function cost(row: number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
