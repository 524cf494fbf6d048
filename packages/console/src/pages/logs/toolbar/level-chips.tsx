import type { Level } from '@porthole/client';
import { isPartialCount, levelCounts } from '../../../log-view/chart/level-counts.ts';
import type { HistogramResult } from '../../../log-view/source/log-source.ts';
import { formatCount } from '../../../ui/format.ts';

const NAMES: Readonly<Record<ChipCount['letter'], string>> = {
  E: 'errors only',
  W: 'warnings and errors',
  I: 'info and above',
  D: 'all levels',
};

interface LevelChipsProps {
  histogram: HistogramResult | null;
  minLevel: Level | null;
  onChange: (minLevel: Level | null) => void;
}

interface ChipCount {
  letter: 'E' | 'W' | 'I' | 'D';
  /** The minimum level when this chip is chosen; `null`: all. */
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

/** The minimum level, with counts per level. */
export function LevelChips({ histogram, minLevel, onChange }: LevelChipsProps) {
  return (
    <fieldset class="level-chips">
      <legend class="sr-only">Levels shown</legend>
      {chipCounts(histogram, minLevel).map((chip) => {
        const counted = chip.count === null ? '' : `${formatCount(chip.count)}${chip.isPartial ? '+' : ''}`;
        const partly = chip.isPartial ? ' · partial count: there may be more' : '';
        const isLowest = minLevel !== null && chip.minLevel === minLevel;
        return (
          <button
            key={chip.letter}
            type="button"
            class={`level-chip level-${chip.letter.toLowerCase()}`}
            aria-pressed={chip.isShown}
            aria-label={`${chip.letter}: show ${NAMES[chip.letter]}${counted && `, ${counted}${chip.isShown ? '' : ' hidden'}`}${partly}`}
            title={`Show ${NAMES[chip.letter]}${partly}`}
            onClick={() => onChange(isLowest ? null : chip.minLevel)}
          >
            <b>{chip.letter}</b> {counted}
            {chip.isShown ? '' : ' hidden'}
          </button>
        );
      })}
    </fieldset>
  );
}

/** The level chips. The last one includes records without a level, which are shown and hidden with it. */
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
