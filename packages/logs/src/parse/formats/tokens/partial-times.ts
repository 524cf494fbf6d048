import type { FormatOptions } from '../../format.ts';
import { wallClockMs } from '../../timestamp.ts';
import type { Zone } from '../../zone.ts';

const DAY_MS = 86_400_000;

/** 29 February recurs after at most 8 years (1896, 1904). */
const YEARS_TO_LEAP = 8;

/** The instant of a month, day and time of day; `NaN` if there is none. */
export type YearlessClock = (month: number, day: number, msOfDay: number) => number;

/**
 * Assigns times without a year the latest year in which they are no later than a day after the file was written: clocks
 * differ, and a file read while it grows is already older than its last line.
 */
export function createYearlessClock({ zone, writtenMs }: FormatOptions): YearlessClock {
  let latest: { localMs: number; year: number } | undefined;
  return (month, day, msOfDay) => {
    latest ??= latestTime(zone, writtenMs);
    for (let year = latest.year; year >= latest.year - YEARS_TO_LEAP; year--) {
      const localMs = wallClockMs({ year, month, day }, msOfDay);
      if (localMs <= latest.localMs) return zone.toEpochMs(localMs);
    }
    return Number.NaN;
  };
}

function latestTime(zone: Zone, writtenMs: number): { localMs: number; year: number } {
  const latestMs = writtenMs + DAY_MS;
  const localMs = latestMs + zone.offsetMsAt(latestMs);
  return { localMs, year: new Date(localMs).getUTCFullYear() };
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
