import type { LinePairs } from './line-diff.ts';

/**
 * Lines that occur once in each text and are the same, as many of them as stand in the same order in both: what two
 * texts are aligned by when they differ in too much for more. Takes `n log n` steps, whatever they hold.
 */
export function alignAnchors(left: readonly string[], right: readonly string[]): LinePairs {
  const indexes = uniqueLineIndexes(right);
  const candidates: (readonly [number, number])[] = [];
  for (const [line, place] of uniqueLineIndexes(left)) {
    const other = indexes.get(line);
    if (place !== null && other !== null && other !== undefined) candidates.push([place, other]);
  }
  return longestAscending(candidates.sort(([a], [b]) => a - b));
}

/** Where each line stands; `null` for those that occur more than once. */
function uniqueLineIndexes(lines: readonly string[]): Map<string, number | null> {
  const indexes = new Map<string, number | null>();
  for (const [index, line] of lines.entries()) indexes.set(line, indexes.has(line) ? null : index);
  return indexes;
}

/** Patience sorting by the right place: the last of each pile knows which one before it it stands on. */
function longestAscending(candidates: LinePairs): LinePairs {
  const piles: number[] = [];
  const below: number[] = [];
  for (const [index, [, place]] of candidates.entries()) {
    const pile = pileFor(place, piles, candidates);
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

function pileFor(place: number, piles: readonly number[], candidates: LinePairs): number {
  let [low, high] = [0, piles.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((candidates[piles[middle] ?? 0]?.[1] ?? 0) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
