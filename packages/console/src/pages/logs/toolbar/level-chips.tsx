import type { Level } from '@porthole/client';
import type { HistogramResult } from '../../../log-view/source/log-source.ts';
import { formatCount } from '../../../ui/format.ts';
import { type ChipCount, chipCounts } from './chip-counts.ts';

const NAMES: Readonly<Record<ChipCount['letter'], string>> = {
  E: 'errors only',
  W: 'warnings and errors',
  I: 'information and above',
  D: 'all levels',
};

export interface LevelChipsProps {
  histogram: HistogramResult | null;
  minLevel: Level | null;
  onChange: (minLevel: Level | null) => void;
}

/** The lowest level that is shown, with how many there are of each. */
export function LevelChips({ histogram, minLevel, onChange }: LevelChipsProps) {
  return (
    <fieldset class="level-chips">
      <legend class="sr-only">Levels shown</legend>
      {chipCounts(histogram, minLevel).map((chip) => {
        const counted = chip.count === null ? '' : `${formatCount(chip.count)}${chip.isPartial ? '+' : ''}`;
        const partly = chip.isPartial ? ' · not everything has been counted: there may be more' : '';
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
