import type { LinePairs } from './line-diff.ts';

/**
 * The most lines that both texts share in order (Myers, "An O(ND) Difference Algorithm", 1986); `null` when it takes
 * more changes than `maxChanges` to make one text from the other.
 */
export function matchLines(left: readonly string[], right: readonly string[], maxChanges: number): LinePairs | null {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  let tail = 0;
  while (
    tail < Math.min(left.length, right.length) - start &&
    left[left.length - 1 - tail] === right[right.length - 1 - tail]
  )
    tail++;
  const numbers = new Map<string, number>();
  const [a, b] = [left, right].map((lines) => numberLines(lines.slice(start, lines.length - tail), numbers));
  const middle = matchNumbers(a ?? [], b ?? [], maxChanges);
  return (
    middle && [
      ...Array.from({ length: start }, (_, index) => [index, index] as const),
      ...middle.map(([x, y]) => [x + start, y + start] as const),
      ...Array.from({ length: tail }, (_, index) => [left.length - tail + index, right.length - tail + index] as const),
    ]
  );
}

/** Equal lines get equal numbers: these are compared far more often than there are lines. */
function numberLines(lines: readonly string[], numbers: Map<string, number>): number[] {
  return lines.map((line) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    return number;
  });
}

function matchNumbers(a: readonly number[], b: readonly number[], maxChanges: number): LinePairs | null {
  const limit = Math.min(a.length + b.length, maxChanges);
  const middle = limit + 1;
  // Per diagonal (x - y) how far x can come with the changes so far.
  const reach = new Int32Array(2 * limit + 3);
  const history: Int32Array[] = [];
  for (let changes = 0; changes <= limit; changes++) {
    history.push(reach.slice(middle - changes - 1, middle + changes + 2));
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = stepFrom(reach, { at: middle + diagonal, diagonal, changes }).x;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      reach[middle + diagonal] = x;
      if (x >= a.length && x - diagonal >= b.length) return walkBack(history, a.length, b.length);
    }
  }
  return null;
}

interface Step {
  /** Where the diagonal stands in `reach`. */
  at: number;
  diagonal: number;
  changes: number;
}

/** The further of two: a line of `b` is added, from the diagonal above; one of `a` is removed, from that below. */
function stepFrom(reach: Int32Array, { at, diagonal, changes }: Step): { x: number; isAddition: boolean } {
  const above = reach[at + 1] ?? 0;
  const below = (reach[at - 1] ?? 0) + 1;
  const isAddition = diagonal === -changes || (diagonal !== changes && below <= above);
  return { x: isAddition ? above : below, isAddition };
}

/** `history[d]` holds the diagonals `-d - 1` to `d + 1` as they were before change number `d`. */
function walkBack(history: readonly Int32Array[], endX: number, endY: number): LinePairs {
  const pairs: (readonly [number, number])[] = [];
  let [x, y] = [endX, endY];
  for (const [changes, reach] of [...history.entries()].reverse()) {
    const diagonal = x - y;
    const step = stepFrom(reach, { at: diagonal + changes + 1, diagonal, changes });
    while (x > step.x) pairs.push([--x, --y]);
    if (step.isAddition) y--;
    else x--;
  }
  return pairs.reverse();
}
