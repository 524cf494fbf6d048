import type { FormatName, FormatOptions } from '../format.ts';
import { wallClockMs } from '../timestamp.ts';

const DAY_MS = 86_400_000;

/** Formats in which times may have no year. */
export const YEARLESS_FORMATS: ReadonlySet<FormatName> = new Set(['glog', 'syslog']);

/** 29 February comes again after at most 8 years (1896, 1904). */
const YEARS_TO_LEAP = 8;

/** The instant of a month, day and time of day; `NaN` where there is none. */
export type YearlessClock = (month: number, day: number, msOfDay: number) => number;

/**
 * Gives times without a year the latest year in which they are no later than a day after the file was written: clocks
 * differ, and a file that is read while it grows is already older than its last line.
 */
export function createYearlessClock({ zone, writtenMs }: FormatOptions): YearlessClock {
  const latestMs = writtenMs + DAY_MS;
  const latestLocalMs = latestMs + zone.offsetMsAt(latestMs);
  const latestYear = new Date(latestLocalMs).getUTCFullYear();
  return (month, day, msOfDay) => {
    for (let year = latestYear; year >= latestYear - YEARS_TO_LEAP; year--) {
      const localMs = wallClockMs({ year, month, day }, msOfDay);
      if (localMs <= latestLocalMs) return zone.toEpochMs(localMs);
    }
    return Number.NaN;
  };
}
