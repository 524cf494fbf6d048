import type { Level } from '@porthole/client';
import { isPart } from '../model/reports.ts';
import type { HistogramResult } from '../source/log-source.ts';

/** Levels that have a chip. */
export type LevelLetter = 'E' | 'W' | 'I' | 'D';

export interface LevelCounts {
  /** `E` includes FATAL, `D` includes TRACE. */
  byLetter: Record<LevelLetter, number>;
  /** Records without a level. */
  none: number;
  total: number;
}

const LETTERS: Readonly<Record<Level, LevelLetter>> = {
  FATAL: 'E',
  ERROR: 'E',
  WARN: 'W',
  INFO: 'I',
  DEBUG: 'D',
  TRACE: 'D',
};

const RISING: readonly Level[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/** Whether there may be more records than counted: the scan stopped early, or a node did not respond. */
export function isPartialCount({ counted, members }: Pick<HistogramResult, 'counted' | 'members'>): boolean {
  return counted !== null || isPart({ members });
}

export function levelCounts({ buckets }: Pick<HistogramResult, 'buckets'>): LevelCounts {
  const sums = levelSums(buckets);
  const byLetter = { E: 0, W: 0, I: 0, D: 0 };
  for (const level of RISING) byLetter[LETTERS[level]] += sums[level] ?? 0;
  const none = sums.NONE ?? 0;
  return { byLetter, none, total: byLetter.E + byLetter.W + byLetter.I + byLetter.D + none };
}

/** How many of the counted records a minimum level hides, including those without a level. */
export function hiddenBelow({ buckets }: Pick<HistogramResult, 'buckets'>, minLevel: Level | null): number {
  if (minLevel === null) return 0;
  const sums = levelSums(buckets);
  const hidden = RISING.slice(0, RISING.indexOf(minLevel)).reduce((sum, level) => sum + (sums[level] ?? 0), 0);
  return hidden + (sums.NONE ?? 0);
}

function levelSums(buckets: HistogramResult['buckets']): Partial<Record<Level | 'NONE', number>> {
  const sums: Partial<Record<Level | 'NONE', number>> = {};
  for (const { counts } of buckets)
    for (const level of Object.keys(counts) as (Level | 'NONE')[])
      sums[level] = (sums[level] ?? 0) + (counts[level] ?? 0);
  return sums;
}
