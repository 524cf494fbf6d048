import type { CheckedIndex } from '../../block-index/checked-index.ts';
import { type BlockSummary, ERROR_RANK } from '../../scan/block/blocks.ts';
import type { RecordMatcher } from '../../scan/match/record-matcher.ts';

/** Whether a block can contain a match, according to its index entry. */
export function canMatch({ all, hasErrors }: BlockSummary, matcher: RecordMatcher): boolean {
  const { minRank, ranks, hasTimes, fromMs, toMs } = matcher;
  if (minRank >= ERROR_RANK && !hasErrors) return false;
  if (!all) return true;
  if (hasTimes && !(all.maxMs >= fromMs && all.minMs < toMs)) return false;
  return minRank === 0 || all.counts.some((count, rank) => ranks[rank] === 1 && count > 0);
}

export interface PlannedRuns {
  /** Pairs of first and end (exclusive) block, in scan order. */
  runs: number[];
  blocks: number;
  /** Blocks that need no scan, according to the index. */
  skipped: number[];
  /** Blocks that are not part of the sample. */
  notChosen: number[];
  /** Where planning continues; the range's end when all is planned. */
  next: number;
}

export interface RunsRange {
  /** Blocks `[first, end)` that are still to be planned. */
  first: number;
  end: number;
  newestFirst: boolean;
  /** Plan at most this many blocks. */
  most: number;
  /** Whether a block may contain the required texts, according to the text index. */
  mayContain?: ((block: number) => boolean) | undefined;
  /** Whether the index entry of a block makes scanning it unnecessary. */
  takeKnown?: ((summary: BlockSummary) => boolean) | undefined;
  /** Only for a sample: whether the next block that can match is part of it. */
  isChosen?: (() => boolean) | undefined;
}

/** The next blocks to scan, without those that cannot match. */
export function planRuns(index: CheckedIndex, matcher: RecordMatcher, range: RunsRange): PlannedRuns {
  const { first, end, newestFirst, most, mayContain, takeKnown, isChosen } = range;
  const planned: Omit<PlannedRuns, 'next'> = { runs: [], blocks: 0, skipped: [], notChosen: [] };
  let step = 0;
  for (; step < end - first && planned.blocks < most; step++) {
    const block = newestFirst ? end - 1 - step : first + step;
    if (mayContain && !mayContain(block)) {
      planned.skipped.push(block);
      continue;
    }
    const known = index.get(block);
    if (known && (!canMatch(known, matcher) || takeKnown?.(known))) {
      planned.skipped.push(block);
      continue;
    }
    if (isChosen && !isChosen()) {
      planned.notChosen.push(block);
      continue;
    }
    extend(planned.runs, block, newestFirst);
    planned.blocks++;
  }
  return { ...planned, next: newestFirst ? end - step : first + step };
}

function extend(runs: number[], block: number, newestFirst: boolean): void {
  const last = runs.length - 2;
  if (last >= 0 && !newestFirst && runs[last + 1] === block) runs[last + 1] = block + 1;
  else if (last >= 0 && newestFirst && runs[last] === block + 1) runs[last] = block;
  else runs.push(block, block + 1);
}
