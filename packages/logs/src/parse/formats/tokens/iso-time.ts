import { parseFraction, readMsOfDay, twoDigits, wallClockMs } from '../../timestamp.ts';
import type { Zone } from '../../zone.ts';
import { COLON, isDigit, isLetter, SPACE, skipLetters, startsWith } from './byte-scan.ts';
import { zoneNameOffset } from './zone-names.ts';

const PLUS = 43;
const MINUS = 45;

/** A time and where its text ends. One object is reused. */
export interface ReadTime {
  timeMs: number;
  end: number;
}

/**
 * Reads `YYYY-MM-DD[T :]hh:mm:ss[.,fraction][zone]` at `start`; dates may also be separated by `/` and `.`. The zone is
 * `Z`, `±hh`, `±hhmm` or `±hh:mm`, or after a space ` ±hhmm`, ` ±hh:mm`, ` UTC`, ` GMT`; a time without one is in
 * `zone`.
 */
export function readIsoTime(bytes: Buffer, start: number, end: number, zone: Zone, time: ReadTime): boolean {
  if (end - start < 19) return false;
  const separator = bytes[start + 4];
  if ((separator !== MINUS && separator !== 47 && separator !== 46) || bytes[start + 7] !== separator) return false;
  const between = bytes[start + 10];
  if (between !== SPACE && between !== 84 && between !== COLON) return false;
  const century = twoDigits(bytes, start);
  const yearOfCentury = twoDigits(bytes, start + 2);
  if ((century | yearOfCentury) < 0) return false;
  const date = {
    year: century * 100 + yearOfCentury,
    month: twoDigits(bytes, start + 5),
    day: twoDigits(bytes, start + 8),
  };
  const localMs = wallClockMs(date, readMsOfDay(bytes, start + 11));
  if (Number.isNaN(localMs)) return false;
  const fraction = parseFraction(bytes, start + 19, end);
  applyZone(bytes, fraction.end, end, { localMs: localMs + fraction.ms, zone, time });
  return true;
}

/** Converts a local time to an instant, by the zone at `at` or else that of the file. */
function applyZone(
  bytes: Buffer,
  at: number,
  end: number,
  { localMs, zone, time }: { localMs: number; zone: Zone; time: ReadTime },
): void {
  const width = zoneWidth(bytes, at, end);
  time.end = at + width;
  const named =
    width > 4 || (width === 4 && isLetter(bytes[at + 1])) ? zoneNameOffset(bytes, at + 1, time.end) : undefined;
  if (named !== undefined) time.timeMs = Number.isNaN(named) ? zone.toEpochMs(localMs) : localMs - named;
  else if (width === 0) time.timeMs = zone.toEpochMs(localMs);
  else time.timeMs = localMs - offsetMs(bytes, bytes[at] === SPACE ? at + 1 : at, time.end);
}

/** Width of the zone in bytes, a preceding space included; 0 if there is none. */
function zoneWidth(bytes: Buffer, at: number, end: number): number {
  if (at >= end) return 0;
  const first = bytes[at];
  if (first === 90) return isWordEnd(bytes, at + 1, end) ? 1 : 0;
  if (first === PLUS || first === MINUS) return offsetWidth(bytes, at, end);
  if (first !== SPACE) return 0;
  const letter = bytes[at + 1];
  if (
    (letter === 85 && startsWith(bytes, at + 1, end, 'UTC')) ||
    (letter === 71 && startsWith(bytes, at + 1, end, 'GMT'))
  )
    return isWordEnd(bytes, at + 4, end) ? 4 : 0;
  // ` CEST` before more text could be a word of the message; PostgreSQL and PgBouncer write ` [` behind it.
  const wordEnd = skipLetters(bytes, at + 1, end);
  if (wordEnd > at + 1) {
    if (zoneNameOffset(bytes, at + 1, wordEnd) === undefined) return 0;
    return wordEnd === end || startsWith(bytes, wordEnd, end, ' [') ? wordEnd - at : 0;
  }
  const width = offsetWidth(bytes, at + 1, end);
  // ` -03` alone could be a number of the message; before ` [` it is what PostgreSQL writes for zones without a name.
  if (width === 3) return startsWith(bytes, at + 4, end, ' [') ? 4 : 0;
  return width > 0 ? width + 1 : 0;
}

/** Bytes of `±hh`, `±hhmm` or `±hh:mm` at `at`, or 0. */
export function offsetWidth(bytes: Buffer, at: number, end: number): number {
  if (end - at < 3 || (bytes[at] !== PLUS && bytes[at] !== MINUS)) return 0;
  const hours = twoDigits(bytes, at + 1);
  if (hours < 0 || hours > 14) return 0;
  const minutesAt = bytes[at + 3] === COLON && at + 3 < end ? at + 4 : at + 3;
  if (minutesAt + 2 <= end) {
    const minutes = twoDigits(bytes, minutesAt);
    if (minutes >= 0 && minutes < 60 && isWordEnd(bytes, minutesAt + 2, end)) return minutesAt + 2 - at;
  }
  return isWordEnd(bytes, at + 3, end) ? 3 : 0;
}

/** The offset between `at` and `end`; anything but a numeric offset is UTC. */
export function offsetMs(bytes: Buffer, at: number, end: number): number {
  const sign = bytes[at];
  if (sign !== PLUS && sign !== MINUS) return 0;
  const minutes = end - at > 3 ? twoDigits(bytes, end - 2) : 0;
  const offset = twoDigits(bytes, at + 1) * 3_600_000 + minutes * 60_000;
  return sign === MINUS ? -offset : offset;
}

function isWordEnd(bytes: Buffer, at: number, end: number): boolean {
  return at >= end || !(isDigit(bytes[at]) || isLetter(bytes[at]));
}

const NAMES = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const MONTHS_BY_KEY = new Map(NAMES.map((name, index) => [monthKey(Buffer.from(name), 0), index + 1]));

/** The month whose three-letter English name is at `at`, 1 to 12; 0 if there is none. */
export function readMonthName(bytes: Buffer, at: number, end: number): number {
  return end - at < 3 ? 0 : (MONTHS_BY_KEY.get(monthKey(bytes, at)) ?? 0);
}

function monthKey(bytes: Uint8Array, at: number): number {
  const letter = (index: number) => (bytes[at + index] ?? 0) | 0x20;
  return (letter(0) << 16) | (letter(1) << 8) | letter(2);
}
