import type { FormatOptions } from '../format.ts';
import { createYearlessClock } from '../formats/tokens/yearless-time.ts';
import { wallClockMs } from '../timestamp.ts';
import { createZone } from '../zone.ts';
import { applyOrder, type DateOrder, type WrittenTime } from './time-spellings.ts';

const DAY_MS = 86_400_000;
const UTC = createZone('UTC');

/** Completes what times leave out, for one file: the instant in epoch ms, or `NaN`. */
export type CompleteTime = (time: WrittenTime) => number;

/**
 * Times without a zone are in that of the node, those without a year or a date are no later than when the file was
 * written, and numeric dates are in the order that was learned of the file.
 */
export function createTimeCompleter(options: FormatOptions, order: DateOrder): CompleteTime {
  const { zone, writtenMs } = options;
  const yearless = createYearlessClock(options);
  const yearlessUtc = createYearlessClock({ zone: UTC, writtenMs });
  const dateless = createDatelessClock(options);
  return (time) => {
    const { epochMs, msOfDay, offsetMs, spelling } = time;
    if (!Number.isNaN(epochMs)) return epochMs;
    if (spelling === 'clock') return dateless(msOfDay);
    if ((spelling === 'numeric' || spelling === 'numeric-clock') && !applyOrder(time, order)) return Number.NaN;
    const hasZone = !Number.isNaN(offsetMs);
    if (time.year > 0) {
      const localMs = wallClockMs(time, msOfDay);
      return hasZone ? localMs - offsetMs : zone.toEpochMs(localMs);
    }
    return hasZone ? yearlessUtc(time.month, time.day, msOfDay) - offsetMs : yearless(time.month, time.day, msOfDay);
  };
}

/** Assigns a time of day the latest day on which it is no later than an hour after the file was written. */
export function createDatelessClock({ zone, writtenMs }: FormatOptions): (msOfDay: number) => number {
  let latestLocalMs = Number.NaN;
  return (msOfDay) => {
    if (Number.isNaN(latestLocalMs)) {
      const latestMs = writtenMs + 3_600_000;
      latestLocalMs = latestMs + zone.offsetMsAt(latestMs);
    }
    const localMs = Math.floor(latestLocalMs / DAY_MS) * DAY_MS + msOfDay;
    return zone.toEpochMs(localMs <= latestLocalMs ? localMs : localMs - DAY_MS);
  };
}
