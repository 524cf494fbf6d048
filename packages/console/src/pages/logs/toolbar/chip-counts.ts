import type { Level } from '@porthole/client';
import { isPartialCount, levelCounts } from '../../../log-view/chart/level-counts.ts';
import type { HistogramResult } from '../../../log-view/source/log-source.ts';

export interface ChipCount {
  letter: 'E' | 'W' | 'I' | 'D';
  /** The lowest level shown when it is chosen; `null`: all. */
  minLevel: Level | null;
  /** `null`: not counted yet. */
  count: number | null;
  /** There may be more. */
  isPartial: boolean;
  isShown: boolean;
}

const CHIPS = [
  { letter: 'E', minLevel: 'ERROR' },
  { letter: 'W', minLevel: 'WARN' },
  { letter: 'I', minLevel: 'INFO' },
  { letter: 'D', minLevel: null },
] as const;

const CHIP_OF: Readonly<Record<Level, number>> = { FATAL: 0, ERROR: 0, WARN: 1, INFO: 2, DEBUG: 3, TRACE: 3 };

/** What the level chips say. The last one also counts what has no level: it is shown with it, and hidden with it. */
export function chipCounts(histogram: HistogramResult | null, minLevel: Level | null): ChipCount[] {
  const counts = histogram && levelCounts(histogram);
  const lowest = minLevel === null ? CHIPS.length - 1 : CHIP_OF[minLevel];
  return CHIPS.map((chip, index) => ({
    ...chip,
    count: counts && counts.byLetter[chip.letter] + (chip.letter === 'D' ? counts.none : 0),
    isPartial: histogram !== null && isPartialCount(histogram),
    isShown: index <= lowest,
  }));
}
