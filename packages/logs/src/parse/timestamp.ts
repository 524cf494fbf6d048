const ZERO = 48;
const DAY_MS = 86_400_000;

/** Where a timestamp ends, and its wall-clock time, in ms as if it were UTC. */
export interface LocalTime {
  localMs: number;
  end: number;
}

/**
 * Parses `YYYY-MM-DD hh:mm:ss[.fraction]` at `start`. `undefined` for anything else, including impossible dates, so
 * that a line which only looks like a record start continues the one above it.
 */
export function parseTimestamp(bytes: Uint8Array, start: number, end: number): LocalTime | undefined {
  if (end - start < 19) return undefined;
  if (bytes[start + 4] !== 45 || bytes[start + 7] !== 45 || bytes[start + 10] !== 32) return undefined;
  if (bytes[start + 13] !== 58 || bytes[start + 16] !== 58) return undefined;
  const century = twoDigits(bytes, start);
  const yearOfCentury = twoDigits(bytes, start + 2);
  const month = twoDigits(bytes, start + 5);
  const day = twoDigits(bytes, start + 8);
  const hour = twoDigits(bytes, start + 11);
  const minute = twoDigits(bytes, start + 14);
  const second = twoDigits(bytes, start + 17);
  // Negative if a byte is not a digit. Second 60 is a leap second: it counts as the first of the next minute.
  if ((century | yearOfCentury | hour | minute | second) < 0) return undefined;
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const year = century * 100 + yearOfCentury;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  const fraction = parseFraction(bytes, start + 19, end);
  const localMs = daysFromCivil(year, month, day) * DAY_MS + hour * 3_600_000 + minute * 60_000 + second * 1000;
  return { localMs: localMs + fraction.ms, end: fraction.end };
}

/** The number formed by two digits, or a negative one. */
export function twoDigits(bytes: Uint8Array, start: number): number {
  const tens = (bytes[start] ?? 0) - ZERO;
  const ones = (bytes[start + 1] ?? 0) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
}

/** A date and time of day in ms as if it were UTC; `NaN` if there is no such day or time. */
export function wallClockMs(date: { year: number; month: number; day: number }, msOfDay: number): number {
  const { year, month, day } = date;
  if (!(msOfDay >= 0) || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return Number.NaN;
  return daysFromCivil(year, month, day) * DAY_MS + msOfDay;
}

/**
 * Parses `hh:mm:ss` at `start` as ms since midnight; negative if it is invalid. The caller ensures that 8 bytes are
 * available.
 */
export function readMsOfDay(bytes: Uint8Array, start: number): number {
  if (bytes[start + 2] !== 58 || bytes[start + 5] !== 58) return -1;
  const hour = twoDigits(bytes, start);
  const minute = twoDigits(bytes, start + 3);
  const second = twoDigits(bytes, start + 6);
  if ((hour | minute | second) < 0 || hour > 23 || minute > 59 || second > 60) return -1;
  return hour * 3_600_000 + minute * 60_000 + second * 1000;
}

/** `.` or `,` and any number of digits, truncated to milliseconds; the fraction may be missing. */
export function parseFraction(bytes: Uint8Array, start: number, end: number): { ms: number; end: number } {
  if (start >= end || (bytes[start] !== 46 && bytes[start] !== 44)) return { ms: 0, end: start };
  let ms = 0;
  let scale = 100;
  let index = start + 1;
  for (; index < end; index++) {
    const digit = (bytes[index] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) break;
    ms += digit * scale;
    scale = Math.floor(scale / 10);
  }
  return index === start + 1 ? { ms: 0, end: start } : { ms, end: index };
}

export function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days since 1970-01-01 in the Gregorian calendar, counting years from March so that the leap day comes last. */
function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
