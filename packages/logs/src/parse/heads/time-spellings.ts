import {
  isCapital,
  isDigit,
  isLetter,
  QUOTE,
  SPACE,
  skipDigits,
  skipLetters,
  startsWith,
  TAB,
} from '../formats/tokens/byte-scan.ts';
import { zoneNameOffset } from '../formats/tokens/zone-names.ts';
import { daysIn, twoDigits } from '../timestamp.ts';

/*
 * How programs spell times. A spelling is found at any position by what it looks like; what it leaves out (zone, year,
 * date, the order of day and month) is completed by `find-times.ts`.
 */

/** Spellings, by what a time has at least. The names are shown to users. */
export const SPELLINGS = [
  'iso', // 2026-11-17 18:33:04
  'compact', // 20261117T183304
  'short', // 261117 18:33:04
  'numeric', // 11/17/2026 18:33:04, 17.11.26 18:33:04
  'day-month', // 17/Nov/2026:18:33:04
  'month-day', // Nov 17, 2026 18:33:04
  'year-month', // 2026 Nov 17 18:33:04
  'epoch', // 1794940384.118
  'hexadecimal', // 6afc9de0.0707a7ad
  'tai64n', // @400000006afc9ddc39bee7d4
  'glog', // I1117 18:33:04.118
  'month-day-clock', // Nov 17 18:33:04
  'day-month-clock', // 17 Nov 18:33:04
  'numeric-clock', // 11/17-18:33:04
  'month-digits', // 1117/183304
  'clock', // 18:33:04
] as const;

export type Spelling = (typeof SPELLINGS)[number];

/** Spellings without a year, and without a date: when the file was written completes them. */
const YEARLESS: ReadonlySet<Spelling> = new Set<Spelling>([
  'glog',
  'month-day-clock',
  'day-month-clock',
  'numeric-clock',
  'month-digits',
]);

export function isPartialSpelling(spelling: Spelling): boolean {
  return spelling === 'clock' || YEARLESS.has(spelling);
}

/** A full date is better than one without a year, which is better than a clock alone. */
export function spellingRank(spelling: Spelling): number {
  return spelling === 'clock' ? 0 : YEARLESS.has(spelling) ? 1 : 2;
}

/** The order of numbers in a date like 11/17/26. */
export type DateOrder = 'mdy' | 'dmy' | 'ymd';

/** A time as it is written. One object is reused. */
export interface WrittenTime {
  spelling: Spelling;
  /** The position after it. */
  end: number;
  /** 0 if it has none. */
  year: number;
  month: number;
  day: number;
  msOfDay: number;
  /** `NaN` if it has no zone, or an ambiguous one. */
  offsetMs: number;
  /** Of spellings that count from 1970; otherwise `NaN`. */
  epochMs: number;
  /** The three numbers of a numeric date as written, if their order is not known by what they look like. */
  numbers: [number, number, number];
  /** The rank of the level whose letter is a part of the spelling; 0 if there is none. */
  rank: number;
}

export function createWrittenTime(): WrittenTime {
  return {
    spelling: 'iso',
    end: 0,
    year: 0,
    month: 0,
    day: 0,
    msOfDay: 0,
    offsetMs: Number.NaN,
    epochMs: Number.NaN,
    numbers: [0, 0, 0],
    rank: 0,
  };
}

const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const DOT = 46;
const SLASH = 47;
const COLON = 58;
const AT = 64;
const SMALL_H = 104;

/**
 * Reads the time at `at`, a position where a word starts, in the longest spelling that fits. `order` says how numbers are
 * ordered where a spelling does not; without it, any order in which they are a date fits.
 */
export function readWrittenTime(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  const first = bytes[at];
  if (at >= end || first === undefined) return false;
  time.offsetMs = Number.NaN;
  time.epochMs = Number.NaN;
  time.year = 0;
  time.rank = 0;
  if (bytes[at + 8] === DOT && bytes[at + 17] === SPACE && readHexadecimal(bytes, at, end, time)) return true;
  if (first >= 48 && first <= 57) return readFromDigit(bytes, at, end, time);
  if (isLetter(first)) {
    if (isDigit(bytes[at + 1])) return readGlog(bytes, at, end, time);
    return readMonthFirst(bytes, at, end, time);
  }
  return first === AT && readTai64n(bytes, at, end, time);
}

function readFromDigit(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  const digitsEnd = skipDigits(bytes, at, Math.min(end, at + 20));
  switch (digitsEnd - at) {
    case 1:
    case 2:
      return (
        readDayMonth(bytes, at, digitsEnd, end, time) ||
        readNumeric(bytes, at, digitsEnd, end, time) ||
        readLoneClock(bytes, at, end, time) ||
        readExponent(bytes, at, digitsEnd, end, time)
      );
    case 4:
      return (
        readIso(bytes, at, end, time) || readYearMonth(bytes, at, end, time) || readMonthDigits(bytes, at, end, time)
      );
    case 6:
      return readShort(bytes, at, end, time);
    case 8:
    case 14:
    case 17:
    case 20:
      return readCompact(bytes, at, digitsEnd, end, time);
    case 9:
    case 10:
    case 13:
    case 16:
    case 19:
      return readEpoch(bytes, at, digitsEnd, end, time);
    default:
      return false;
  }
}

/** `2026-11-17 18:33:04`, with `/` or `.` in the date, and nearly anything between date and clock. */
function readIso(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  const mark = bytes[at + 4];
  // Fast path: two digits each, as most programs write it. What it does not read is read below.
  if (end - at >= 19 && bytes[at + 13] === COLON && bytes[at + 16] === COLON && bytes[at + 7] === mark) {
    const between = bytes[at + 10];
    const isUsual = (mark === MINUS || mark === SLASH || mark === DOT) && (between === SPACE || between === 84);
    const month = twoDigits(bytes, at + 5);
    const day = twoDigits(bytes, at + 8);
    const hour = twoDigits(bytes, at + 11);
    const minute = twoDigits(bytes, at + 14);
    const second = twoDigits(bytes, at + 17);
    if (isUsual && (month | day | hour | minute | second) >= 0 && !isDigit(bytes[at + 19])) {
      const ms = clockMs(hour, minute, second);
      if (ms >= 0 && findHalfDay(bytes, at + 19, end) === 0) {
        time.spelling = 'iso';
        time.msOfDay = ms;
        const to = readFraction(bytes, at + 19, end, time);
        return isDate(time, number(bytes, at, at + 4), month, day) && withZone(bytes, to, end, time);
      }
    }
  }
  // 年 and 月 have three bytes, the first of which differ.
  const wide = mark === 0xe5 && startsWithCodes(bytes, at + 4, end, YEAR_SIGN);
  if (mark !== MINUS && mark !== SLASH && mark !== DOT && mark !== COLON && !wide) return false;
  const year = number(bytes, at, at + 4);
  const monthAt = at + (wide ? 7 : 5);
  const monthEnd = skipDigits(bytes, monthAt, Math.min(end, monthAt + 2));
  if (monthEnd === monthAt) return false;
  if (wide ? !startsWithCodes(bytes, monthEnd, end, MONTH_SIGN) : bytes[monthEnd] !== mark) return false;
  const dayAt = monthEnd + (wide ? 3 : 1);
  const dayEnd = skipDigits(bytes, dayAt, Math.min(end, dayAt + 2));
  if (dayEnd === dayAt || (wide && !startsWithCodes(bytes, dayEnd, end, DAY_SIGN))) return false;
  const dateEnd = wide ? dayEnd + 3 : dayEnd;
  const clockAt = skipGap(bytes, dateEnd, end);
  if (clockAt < 0) return false;
  // Where the clock is joined by the mark of the date, it may have other marks, too: 2026-11-17-18.33.04.
  const clockEnd = readClock(bytes, clockAt, end, time, { anyMark: clockAt - dateEnd === 1, mayLackSeconds: true });
  if (clockEnd < 0) return false;
  time.spelling = 'iso';
  return (
    isDate(time, year, number(bytes, monthAt, monthEnd), number(bytes, dayAt, dayEnd)) &&
    withZone(bytes, clockEnd, end, time)
  );
}

const YEAR_SIGN = [0xe5, 0xb9, 0xb4];
const MONTH_SIGN = [0xe6, 0x9c, 0x88];
const DAY_SIGN = [0xe6, 0x97, 0xa5];

const MIN_YEAR = 1000;
const MAX_YEAR = 2999;

/** `2026 Nov 17 18:33:04`, `2026-Nov-17 18:33:04`. */
function readYearMonth(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  const mark = bytes[at + 4];
  if ((mark !== SPACE && mark !== MINUS && mark !== SLASH) || !isLetter(bytes[at + 5])) return false;
  const year = number(bytes, at, at + 4);
  const month = readMonthName(bytes, at + 5, end);
  if (month === 0 || yearOrNone(year) === 0) return false;
  let dayAt = monthNameEnd(bytes, at + 5, end);
  if (bytes[dayAt] !== mark) return false;
  while (dayAt < end && bytes[dayAt] === mark) dayAt++;
  const dayEnd = skipDigits(bytes, dayAt, Math.min(end, dayAt + 2));
  const clockAt = dayEnd === dayAt ? -1 : skipGap(bytes, dayEnd, end);
  const clockEnd = clockAt < 0 ? -1 : readClock(bytes, clockAt, end, time, PLAIN_CLOCK);
  if (clockEnd < 0) return false;
  time.spelling = 'year-month';
  return isDate(time, year, month, number(bytes, dayAt, dayEnd)) && withZone(bytes, clockEnd, end, time);
}

/** `1117/183304.118`, as Chromium writes it. */
function readMonthDigits(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  if (bytes[at + 4] !== SLASH) return false;
  const digitsEnd = skipDigits(bytes, at + 5, Math.min(end, at + 12));
  if (digitsEnd !== at + 11) return false;
  const clockEnd = readDigitClock(bytes, at + 5, digitsEnd, end, time);
  if (clockEnd < 0) return false;
  time.spelling = 'month-digits';
  time.end = clockEnd;
  return isDate(time, null, number(bytes, at, at + 2), number(bytes, at + 2, at + 4));
}

/** `20261117T183304`, `20261117-18:33:04:118`, or without anything between date and clock. */
function readCompact(bytes: Buffer, at: number, digitsEnd: number, end: number, time: WrittenTime): boolean {
  const year = number(bytes, at, at + 4);
  if (year < 1970 || year > 2099) return false;
  time.spelling = 'compact';
  let clockEnd = -1;
  if (digitsEnd - at >= 12) clockEnd = readDigitClock(bytes, at + 8, digitsEnd, end, time);
  else {
    const clockAt = skipGap(bytes, digitsEnd, end);
    if (clockAt < 0) return false;
    const clockDigits = skipDigits(bytes, clockAt, Math.min(end, clockAt + 10));
    clockEnd =
      clockDigits - clockAt >= 6
        ? readDigitClock(bytes, clockAt, clockDigits, end, time)
        : readClock(bytes, clockAt, end, time, LOOSE_CLOCK);
  }
  if (clockEnd < 0) return false;
  return (
    isDate(time, year, number(bytes, at + 4, at + 6), number(bytes, at + 6, at + 8)) &&
    withZone(bytes, clockEnd, end, time)
  );
}

/** `183304`, `183304118`, with a fraction or without. */
function readDigitClock(bytes: Buffer, at: number, digitsEnd: number, end: number, time: WrittenTime): number {
  const seconds = digitsEnd - at >= 6 ? number(bytes, at + 4, at + 6) : 0;
  const ms = clockMs(number(bytes, at, at + 2), number(bytes, at + 2, at + 4), seconds);
  if (ms < 0) return -1;
  time.msOfDay = ms;
  if (digitsEnd - at > 6) {
    time.msOfDay += fractionMs(bytes, at + 6, digitsEnd);
    return digitsEnd;
  }
  return readFraction(bytes, digitsEnd, end, time);
}

/** `261117 18:33:04`, `261117 183304`. */
function readShort(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  let clockAt = at + 6;
  if (bytes[clockAt] !== SPACE && bytes[clockAt] !== TAB && bytes[clockAt] !== MINUS) return false;
  while (clockAt < end && (bytes[clockAt] === SPACE || bytes[clockAt] === TAB || bytes[clockAt] === MINUS)) clockAt++;
  const digitsEnd = skipDigits(bytes, clockAt, Math.min(end, clockAt + 7));
  const clockEnd =
    digitsEnd - clockAt === 6
      ? readDigitClock(bytes, clockAt, digitsEnd, end, time)
      : readClock(bytes, clockAt, end, time, PLAIN_CLOCK);
  if (clockEnd < 0) return false;
  time.spelling = 'short';
  const year = 2000 + number(bytes, at, at + 2);
  return (
    isDate(time, year, number(bytes, at + 2, at + 4), number(bytes, at + 4, at + 6)) &&
    withZone(bytes, clockEnd, end, time)
  );
}

/** `17/Nov/2026:18:33:04 +0100`, `17-Nov-26 18:33:04`, `17. November 2026 18:33`, and without a year. */
function readDayMonth(bytes: Buffer, at: number, digitsEnd: number, end: number, time: WrittenTime): boolean {
  let monthAt = digitsEnd;
  while (monthAt < end && monthAt < digitsEnd + 2 && isDateMark(bytes[monthAt])) monthAt++;
  if (monthAt >= end) return false;
  // Check Point writes 17Nov2026.
  const isJoined = monthAt === digitsEnd;
  const month = readMonthName(bytes, monthAt, end);
  if (month === 0) return false;
  const monthEnd = monthNameEnd(bytes, monthAt, end);
  let yearAt = monthEnd;
  while (yearAt < end && yearAt < monthEnd + 3 && (isDateMark(bytes[yearAt]) || bytes[yearAt] === COMMA)) yearAt++;
  if (isJoined ? !isDigit(bytes[monthEnd + 3]) : yearAt === monthEnd) return false;
  const day = number(bytes, at, digitsEnd);
  const yearEnd = skipDigits(bytes, yearAt, Math.min(end, yearAt + 5));
  const yearDigits = yearEnd - yearAt;
  if (yearDigits === 4 || (yearDigits === 2 && bytes[yearEnd] !== COLON)) {
    const clockAt = skipGap(bytes, yearEnd, end);
    const clockEnd = clockAt < 0 ? -1 : readClock(bytes, clockAt, end, time, PLAIN_CLOCK);
    if (clockEnd >= 0) {
      const year = number(bytes, yearAt, yearEnd) + (yearDigits === 2 ? 2000 : 0);
      time.spelling = 'day-month';
      return isDate(time, year, month, day) && withZone(bytes, clockEnd, end, time);
    }
  }
  // Bacula writes 17-Nov 18:33.
  const style = bytes[digitsEnd] === MINUS && bytes[yearAt - 1] === SPACE ? MINUTES_CLOCK : SECONDS_CLOCK;
  const clockEnd = isJoined ? -1 : readClock(bytes, yearAt, end, time, style);
  if (clockEnd < 0) return false;
  // `17 Nov 18:33:04 2026`, as some C libraries write it.
  const lateYear = readYearBehind(bytes, clockEnd, end);
  if (lateYear > 0) {
    time.spelling = 'day-month';
    return isDate(time, lateYear, month, day) && withZone(bytes, clockEnd + 5, end, time);
  }
  time.spelling = 'day-month-clock';
  return isDate(time, null, month, day) && withZone(bytes, clockEnd, end, time);
}

/** `Nov 17 18:33:04`, with a weekday or without, and a year before or after the clock or none. */
function readMonthFirst(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  // Most words are none of this.
  if (!NAME_STARTS.has(nameKey(bytes, at)) && !isZoneLike(bytes, at)) return false;
  let monthAt = at;
  let month = readMonthName(bytes, monthAt, end);
  if (month === 0) {
    monthAt = skipWeekday(bytes, at, end);
    if (monthAt < 0) return readBehindZone(bytes, at, end, time);
    if (isDigit(bytes[monthAt])) return readBehindWeekday(bytes, monthAt, end, time);
    month = readMonthName(bytes, monthAt, end);
    if (month === 0) return false;
  }
  const monthEnd = monthNameEnd(bytes, monthAt, end);
  let dayAt = monthEnd;
  while (dayAt < end && dayAt < monthEnd + 3 && isDateMark(bytes[dayAt])) dayAt++;
  let dayEnd = skipDigits(bytes, dayAt, Math.min(end, dayAt + 3));
  if (dayAt === monthEnd || dayEnd === dayAt || dayEnd - dayAt > 2) return false;
  const day = number(bytes, dayAt, dayEnd);
  if (isLetter(bytes[dayEnd]) && isLetter(bytes[dayEnd + 1]) && !isLetter(bytes[dayEnd + 2])) dayEnd += 2; // 17th
  let next = dayEnd;
  while (next < end && next < dayEnd + 3 && (isDateMark(bytes[next]) || bytes[next] === COMMA || bytes[next] === COLON))
    next++;
  if (next === dayEnd) return false;
  const yearEnd = skipDigits(bytes, next, Math.min(end, next + 5));
  const yearDigits = yearEnd - next;
  // `Nov-17-26 18:33:04`
  if (yearDigits === 4 || (yearDigits === 2 && bytes[next - 1] === MINUS && bytes[yearEnd] === SPACE)) {
    const clockAt = skipGap(bytes, yearEnd, end);
    const clockEnd = clockAt < 0 ? -1 : readClock(bytes, clockAt, end, time, PLAIN_CLOCK);
    if (clockEnd < 0) return false;
    time.spelling = 'month-day';
    const year = number(bytes, next, yearEnd) + (yearDigits === 2 ? 2000 : 0);
    return isDate(time, year, month, day) && withZone(bytes, clockEnd, end, time);
  }
  const clockEnd = readClock(bytes, next, end, time, SECONDS_CLOCK);
  if (clockEnd < 0) return false;
  const year = readYearBehind(bytes, clockEnd, end);
  if (year > 0) {
    time.spelling = 'month-day';
    return isDate(time, year, month, day) && withZone(bytes, clockEnd + 5, end, time);
  }
  // `Nov 17 18:33:04 CET 2026`
  withZone(bytes, clockEnd, end, time);
  const yearBehindZone = time.end > clockEnd ? readYearBehind(bytes, time.end, end) : 0;
  if (yearBehindZone > 0) {
    time.spelling = 'month-day';
    time.end += 5;
    return isDate(time, yearBehindZone, month, day);
  }
  time.spelling = 'month-day-clock';
  return isDate(time, null, month, day);
}

/** `PST Nov 17 18:33:04`, as Monit writes it. */
function readBehindZone(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  const nameEnd = skipLetters(bytes, at, Math.min(end, at + 5));
  if (nameEnd - at < 3 || bytes[nameEnd] !== SPACE || readMonthName(bytes, nameEnd + 1, end) === 0) return false;
  const offset = zoneNameOffset(bytes, at, nameEnd);
  if (offset === undefined || !readMonthFirst(bytes, nameEnd + 1, end, time)) return false;
  time.offsetMs = offset;
  return true;
}

/** `Tue, 17 Nov 2026 18:33:04 +0100`, `Tue 2026-11-17 18:33:04`. */
function readBehindWeekday(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  return readFromDigit(bytes, at, end, time) && spellingRank(time.spelling) === 2 && time.spelling !== 'epoch';
}

/** Four digits of a year behind one space, before the end of the word; 0 if there are none. */
function readYearBehind(bytes: Buffer, at: number, end: number): number {
  if (at + 5 > end || bytes[at] !== SPACE || skipDigits(bytes, at + 1, at + 5) !== at + 5) return 0;
  const after = bytes[at + 5];
  if (at + 5 < end && (isDigit(after) || isLetter(after) || after === COLON || after === DOT))
    return after === COLON ? yearOrNone(number(bytes, at + 1, at + 5)) : 0;
  return yearOrNone(number(bytes, at + 1, at + 5));
}

function yearOrNone(year: number): number {
  return year >= 1970 && year <= 2099 ? year : 0;
}

/** `11/17/2026 18:33:04`, `17.11.26, 6:33:04 PM`, `26/11/17 18:33:04`; `11-17 18:33:04` and `11/17-18:33:04`. */
function readNumeric(bytes: Buffer, at: number, digitsEnd: number, end: number, time: WrittenTime): boolean {
  const mark = bytes[digitsEnd];
  if (digitsEnd >= end || (mark !== SLASH && mark !== DOT && mark !== MINUS)) return false;
  const secondAt = digitsEnd + 1;
  const secondEnd = skipDigits(bytes, secondAt, Math.min(end, secondAt + 2));
  if (secondEnd === secondAt) return false;
  const one = number(bytes, at, digitsEnd);
  const two = number(bytes, secondAt, secondEnd);
  if (bytes[secondEnd] === mark && isDigit(bytes[secondEnd + 1]) && secondEnd + 1 < end) {
    const thirdAt = secondEnd + 1;
    const thirdEnd = skipDigits(bytes, thirdAt, Math.min(end, thirdAt + 5));
    const width = thirdEnd - thirdAt;
    if (width === 2 || width === 4) {
      const clockAt = skipGap(bytes, thirdEnd, end);
      const clockEnd = clockAt < 0 ? -1 : readClock(bytes, clockAt, end, time, PLAIN_CLOCK);
      if (clockEnd >= 0) {
        time.spelling = 'numeric';
        time.numbers[0] = one;
        time.numbers[1] = two;
        time.numbers[2] = number(bytes, thirdAt, thirdEnd);
        return ORDERS.some((order) => applyOrder(time, order)) && withZone(bytes, clockEnd, end, time);
      }
    }
    // 10.20.30.40 is an address.
    if (mark !== MINUS) return false;
  }
  if (digitsEnd - at !== 2 || secondEnd - secondAt !== 2) return false;
  const between = bytes[secondEnd] === DOT && bytes[secondEnd + 1] === SPACE ? secondEnd + 1 : secondEnd;
  if (bytes[between] !== SPACE && bytes[between] !== MINUS) return false;
  const clockEnd = readClock(bytes, between + 1, end, time, SECONDS_CLOCK);
  if (clockEnd < 0) return false;
  time.spelling = 'numeric-clock';
  time.numbers[0] = one;
  time.numbers[1] = two;
  return ORDERS.some((order) => applyOrder(time, order)) && withZone(bytes, clockEnd, end, time);
}

export const ORDERS: readonly DateOrder[] = ['mdy', 'dmy', 'ymd'];

/** Reads the numbers of a numeric date in this order; false if they are no date then. */
export function applyOrder(time: WrittenTime, order: DateOrder): boolean {
  const [one, two, three] = time.numbers;
  if (time.spelling === 'numeric-clock')
    return order === 'dmy' ? isDate(time, null, two, one) : isDate(time, null, one, two);
  if (order === 'ymd') return three < 100 && isDate(time, fullYear(one), two, three);
  return order === 'mdy' ? isDate(time, fullYear(three), one, two) : isDate(time, fullYear(three), two, one);
}

function fullYear(year: number): number {
  return year < 100 ? 2000 + year : year;
}

/** `18:33:04` alone, or `6:33PM`. */
function readLoneClock(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  const clockEnd = readClock(bytes, at, end, time, SECONDS_CLOCK);
  if (clockEnd < 0) return false;
  time.spelling = 'clock';
  withZone(bytes, clockEnd, end, time);
  if (bytes[time.end] === QUOTE) readDateBehind(bytes, time.end, end, time);
  return true;
}

/**
 * `time="18:33:04.118-060" date="11-17-2026"`, as Windows' configuration manager writes it: the minutes are those from
 * local time to UTC.
 */
function readDateBehind(bytes: Buffer, at: number, end: number, time: WrittenTime): void {
  if (!startsWith(bytes, at, end, DATE_KEY)) return;
  const monthAt = at + DATE_KEY.length;
  const text = bytes.toString('latin1', monthAt, Math.min(end, monthAt + 11));
  const date = /^(\d{1,2})-(\d{1,2})-(\d{4})"/.exec(text);
  if (!date || !isDate(time, Number(date[3]), Number(date[1]), Number(date[2]))) return;
  time.spelling = 'month-day';
  time.offsetMs = -time.offsetMs;
  time.end = monthAt + text.indexOf('"');
}

const DATE_KEY = '" date="';

/** Seconds, milliseconds, microseconds or nanoseconds since 1970, distinguished by their digits. */
function readEpoch(bytes: Buffer, at: number, digitsEnd: number, end: number, time: WrittenTime): boolean {
  const digits = digitsEnd - at;
  time.spelling = 'epoch';
  time.end = digitsEnd;
  let ms = 0;
  if (digits <= 10) {
    ms = number(bytes, at, digitsEnd) * 1000;
    const isFraction = (bytes[digitsEnd] === DOT || bytes[digitsEnd] === COMMA) && isDigit(bytes[digitsEnd + 1]);
    if (isFraction && digitsEnd + 1 < end) {
      time.end = skipDigits(bytes, digitsEnd + 1, end);
      ms += fractionMs(bytes, digitsEnd + 1, time.end);
    }
  } else ms = number(bytes, at, at + 13);
  time.epochMs = ms;
  const after = bytes[time.end];
  if (time.end < end && (isLetter(after) || isDigit(after) || after === DOT || after === MINUS))
    return after === DOT && !isDigit(bytes[time.end + 1]);
  return ms >= MIN_EPOCH_MS && ms < MAX_EPOCH_MS;
}

/** Numbers of this many digits that are no times are frequent: addresses, ids, amounts. */
const MIN_EPOCH_MS = 631_152_000_000; // 1990
const MAX_EPOCH_MS = 4_102_444_800_000; // 2100

/** `1.7949403841182e+09`, as zap writes seconds by default. */
function readExponent(bytes: Buffer, at: number, digitsEnd: number, end: number, time: WrittenTime): boolean {
  if (digitsEnd !== at + 1 || bytes[digitsEnd] !== DOT) return false;
  const fractionEnd = skipDigits(bytes, digitsEnd + 1, Math.min(end, digitsEnd + 24));
  if (!startsWith(bytes, fractionEnd, end, 'e+09')) return false;
  time.spelling = 'epoch';
  time.end = fractionEnd + 4;
  time.epochMs = Math.floor(Number(bytes.toString('latin1', at, time.end)) * 1000);
  return !Number.isNaN(time.epochMs);
}

/** OpenLDAP writes seconds since 1970 and nanoseconds as eight hexadecimal digits each, and then the thread. */
function readHexadecimal(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  if (!startsWith(bytes, at + 18, end, '0x')) return false;
  const text = bytes.toString('latin1', at, at + 17);
  if (!/^[0-9a-f]{8}\.[0-9a-f]{8}$/.test(text)) return false;
  time.spelling = 'hexadecimal';
  time.end = at + 17;
  time.epochMs = Number.parseInt(text, 16) * 1000 + Math.floor(Number.parseInt(text.slice(9), 16) / 1_000_000);
  return time.epochMs >= MIN_EPOCH_MS && time.epochMs < MAX_EPOCH_MS;
}

/** `@` and 24 hexadecimal digits: seconds since 1970 in TAI, 10 seconds ahead of UTC then, and nanoseconds. */
function readTai64n(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  if (at + 25 > end || bytes[at + 1] !== 52) return false;
  const text = bytes.toString('latin1', at + 2, at + 25);
  if (!/^[0-9a-f]{23}$/.test(text)) return false;
  time.spelling = 'tai64n';
  time.end = at + 25;
  const seconds = Number.parseInt(text.slice(0, 15), 16) - TAI_AHEAD_SECONDS;
  time.epochMs = seconds * 1000 + Math.floor(Number.parseInt(text.slice(15), 16) / 1_000_000);
  return true;
}

/** daemontools and its successors label seconds since 1970 plus 10, without later leap seconds. */
const TAI_AHEAD_SECONDS = 10;

/** `I1117 18:33:04.118`, also with a year of two digits (CockroachDB, in UTC) or four. */
function readGlog(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  const rank = GLOG_RANKS.get(bytes[at] ?? 0);
  if (rank === undefined) return false;
  const digitsEnd = skipDigits(bytes, at + 1, Math.min(end, at + 10));
  const digits = digitsEnd - at - 1;
  if ((digits !== 4 && digits !== 6 && digits !== 8) || bytes[digitsEnd] !== SPACE) return false;
  const clockEnd = readClock(bytes, digitsEnd + 1, end, time, SECONDS_CLOCK);
  if (clockEnd < 0 || bytes[digitsEnd + 3] !== COLON) return false;
  const month = number(bytes, digitsEnd - 4, digitsEnd - 2);
  const day = number(bytes, digitsEnd - 2, digitsEnd);
  const year =
    digits === 4 ? null : digits === 6 ? 2000 + number(bytes, at + 1, at + 3) : number(bytes, at + 1, at + 5);
  time.spelling = 'glog';
  time.end = clockEnd;
  time.rank = rank;
  if (digits === 6) time.offsetMs = 0;
  return isDate(time, year, month, day);
}

const GLOG_RANKS = new Map([...'DIWEF'].map((letter, index) => [letter.charCodeAt(0), index + 2]));

/** What a clock may look like. */
interface ClockStyle {
  /** Hours, minutes and seconds may be separated by dots or dashes. */
  anyMark?: boolean;
  /** There may be no seconds; always so before AM and PM. */
  mayLackSeconds?: boolean;
  /** Minutes and seconds may have one digit. */
  mayBeShort?: boolean;
}

const PLAIN_CLOCK: ClockStyle = { mayLackSeconds: true, anyMark: true };
const SECONDS_CLOCK: ClockStyle = {};
const MINUTES_CLOCK: ClockStyle = { mayLackSeconds: true };
const LOOSE_CLOCK: ClockStyle = { mayBeShort: true };

/** Reads a time of day with its fraction and AM or PM; the position after it, negative if there is none. */
function readClock(bytes: Buffer, at: number, end: number, time: WrittenTime, style: ClockStyle): number {
  const { anyMark = false, mayLackSeconds = false, mayBeShort = false } = style;
  const hourEnd = skipDigits(bytes, at, Math.min(end, at + 2));
  const mark = bytes[hourEnd];
  if (hourEnd === at || hourEnd >= end) return -1;
  // OpenVAS writes 18h33.04.
  if (mark !== COLON && !(anyMark && (mark === DOT || mark === MINUS || mark === SMALL_H))) return -1;
  const nextMark = mark === SMALL_H ? DOT : mark;
  const minuteEnd = skipDigits(bytes, hourEnd + 1, Math.min(end, hourEnd + 3));
  if (minuteEnd - hourEnd !== 3 && !(mayBeShort && minuteEnd > hourEnd + 1)) return -1;
  let second = 0;
  let to = minuteEnd;
  let hasSeconds = false;
  if (minuteEnd < end && bytes[minuteEnd] === nextMark) {
    const secondEnd = skipDigits(bytes, minuteEnd + 1, Math.min(end, minuteEnd + 3));
    if (secondEnd - minuteEnd === 3 || (mayBeShort && secondEnd > minuteEnd + 1)) {
      second = number(bytes, minuteEnd + 1, secondEnd);
      to = secondEnd;
      hasSeconds = true;
    } else return -1;
  }
  if (to < end && isDigit(bytes[to])) return -1;
  const hour = number(bytes, at, hourEnd);
  const minute = number(bytes, hourEnd + 1, minuteEnd);
  const ms = clockMs(hour, minute, second);
  if (ms < 0) return -1;
  time.msOfDay = ms;
  if (hasSeconds) to = readFraction(bytes, to, end, time);
  const letterAt = findHalfDay(bytes, to, end);
  if (letterAt > 0 && hour <= 12) {
    const isPm = ((bytes[letterAt] ?? 0) | 0x20) === 112;
    time.msOfDay += ((hour % 12) - hour + (isPm ? 12 : 0)) * 3_600_000;
    return halfDayEnd(bytes, letterAt);
  }
  return hasSeconds || (mayLackSeconds && mark === COLON) ? to : -1;
}

function clockMs(hour: number, minute: number, second: number): number {
  if (hour > 23 || minute > 59 || second > 60) return -1;
  return hour * 3_600_000 + minute * 60_000 + second * 1000;
}

/** `.118`, `,118`, or `:118`, which has three digits or more, or is the whole rest of a loose clock. */
function readFraction(bytes: Buffer, at: number, end: number, time: WrittenTime): number {
  const mark = bytes[at];
  if (at + 1 >= end || (mark !== DOT && mark !== COMMA && mark !== COLON) || !isDigit(bytes[at + 1])) return at;
  const to = skipDigits(bytes, at + 1, end);
  if (to - at > 10 && mark !== DOT) return at;
  if (mark === COLON && (to - at < 3 || (bytes[to] === COLON && isDigit(bytes[to + 1])))) return at;
  // Numbers between commas are columns, but for milliseconds.
  if (mark === COMMA && bytes[to] === COMMA && to < end && to - at !== 4) return at;
  time.msOfDay += fractionMs(bytes, at + 1, to);
  return to;
}

/** The position of ` PM`, `am` or `a.m.`; 0 if there is none. */
function findHalfDay(bytes: Buffer, at: number, end: number): number {
  // ICU writes a narrow no-break space in front of it.
  let from = startsWithCodes(bytes, at, end, NARROW_SPACE) ? at + 3 : at;
  if (from < end && bytes[from] === SPACE) from++;
  const letter = (bytes[from] ?? 0) | 0x20;
  if (from + 2 > end || (letter !== 97 && letter !== 112)) return 0;
  const to = halfDayEnd(bytes, from);
  return to <= end && ((bytes[to - 1] ?? 0) | 0x20) === 109 && isWordEnd(bytes, to, end) ? from : 0;
}

function halfDayEnd(bytes: Buffer, letterAt: number): number {
  return bytes[letterAt + 1] === DOT ? letterAt + 3 : letterAt + 2;
}

const NARROW_SPACE = [0xe2, 0x80, 0xaf];

/** The position of the clock behind a date; negative if something else is there. */
function skipGap(bytes: Buffer, at: number, end: number): number {
  let from = at;
  for (let width = 0; from < end && width < LONGEST_GAP; width++, from++) {
    const byte = bytes[from] ?? 0;
    if (isDigit(byte)) return from > at ? from : -1;
    if (isLetter(byte)) {
      const isT = (byte === 84 || byte === 116) && from === at && isDigit(bytes[from + 1]);
      if (isT) return from + 1;
      if (startsWith(bytes, from, end, 'time=')) from += 4;
      else if (startsWith(bytes, from, end, 'at ')) from += 2;
      else {
        // A weekday, as in `2026/11/17 Tue 18:33:04`.
        const to = skipWeekday(bytes, from, end);
        return to > 0 && isDigit(bytes[to]) && from > at ? to : -1;
      }
    } else if (GAP[byte] !== 1) return -1;
  }
  return -1;
}

/** `" time="`, `] [`, ` - `, and as many spaces as columns have. */
const LONGEST_GAP = 10;

const GAP = new Uint8Array(128);
for (const mark of ' \t_:-.,|;[]"/@') GAP[mark.charCodeAt(0)] = 1;

/** Reads the zone at `at`, if there is one: `Z`, `+01:00`, ` UTC`, ` CET`, `[Etc/UTC]`. Always succeeds. */
function withZone(bytes: Buffer, at: number, end: number, time: WrittenTime): boolean {
  time.end = at;
  if (at >= end) return true;
  const first = bytes[at];
  if ((first === 90 || first === 122) && isWordEnd(bytes, at + 1, end)) {
    time.offsetMs = 0;
    time.end = at + 1;
    return true;
  }
  const from = first === SPACE ? at + 1 : at;
  const width = offsetWidth(bytes, from, end);
  // ` -03` alone could be a number of the message; PostgreSQL writes it before ` [` or a space and more.
  if (width > 3 || (width === 3 && (from === at || bytes[from + 3] === SPACE))) {
    if (width > 3 || from === at || startsWith(bytes, from + 3, end, ' [')) {
      time.offsetMs = offsetMs(bytes, from, from + width);
      time.end = from + width;
      // `+01:00[Europe/Berlin]`, as Java writes it, and ` +0100 CET` of Go.
      if (bytes[time.end] === 91 && isLetter(bytes[time.end + 1])) time.end = bracketEnd(bytes, time.end, end);
      else if (bytes[time.end] === SPACE) {
        const nameEnd = skipLetters(bytes, time.end + 1, end);
        if (nameEnd - time.end > 3 && zoneNameOffset(bytes, time.end + 1, nameEnd) !== undefined) time.end = nameEnd;
      }
      return true;
    }
  }
  return withZoneName(bytes, at, from, end, time);
}

function withZoneName(bytes: Buffer, at: number, from: number, end: number, time: WrittenTime): boolean {
  let nameAt = from;
  const bracket = bytes[nameAt];
  const isBracketed = (bracket === 91 || bracket === 40) && isLetter(bytes[nameAt + 1]);
  if (isBracketed) nameAt++;
  if (startsWith(bytes, nameAt, end, 'Etc/')) nameAt += 4;
  const nameEnd = skipLetters(bytes, nameAt, end);
  if (nameEnd - nameAt < 3 || (from === at && !isBracketed && nameAt === from)) return true;
  const offset = zoneNameOffset(bytes, nameAt, nameEnd);
  if (offset === undefined || isDigit(bytes[nameEnd])) return true;
  const close = isBracketed ? (bytes[nameEnd] === 93 || bytes[nameEnd] === 41 ? nameEnd + 1 : -1) : nameEnd;
  if (close < 0) return true;
  time.offsetMs = offset;
  time.end = close;
  // `GMT+0100` is written by some runtimes.
  const more = isBracketed ? 0 : offsetWidth(bytes, nameEnd, end);
  if (more > 0) {
    time.offsetMs = offsetMs(bytes, nameEnd, nameEnd + more);
    time.end = nameEnd + more;
  }
  return true;
}

function bracketEnd(bytes: Buffer, at: number, end: number): number {
  let to = at + 1;
  while (to < end && bytes[to] !== 93 && to - at < 40) to++;
  return bytes[to] === 93 && to < end ? to + 1 : at;
}

/** Bytes of `±hh`, `±hhmm` or `±hh:mm` at `at`, or 0; `±mmm` in minutes is what Db2 writes. */
function offsetWidth(bytes: Buffer, at: number, end: number): number {
  const sign = bytes[at];
  if (end - at < 3 || (sign !== PLUS && sign !== MINUS)) return 0;
  const hoursEnd = skipDigits(bytes, at + 1, Math.min(end, at + 6));
  if (bytes[hoursEnd] === COLON && hoursEnd - at === 3 && hoursEnd < end) {
    const minutesEnd = skipDigits(bytes, hoursEnd + 1, Math.min(end, hoursEnd + 4));
    if (minutesEnd - hoursEnd === 3 && number(bytes, at + 1, hoursEnd) <= 14 && isWordEnd(bytes, minutesEnd, end))
      return 6;
  }
  const digits = hoursEnd - at - 1;
  if (!isWordEnd(bytes, hoursEnd, end) || bytes[hoursEnd] === MINUS) return 0;
  if (digits === 3) return 4;
  return (digits === 2 || digits === 4) && number(bytes, at + 1, at + 3) <= 14 ? digits + 1 : 0;
}

function offsetMs(bytes: Buffer, at: number, end: number): number {
  const width = end - at;
  const minutes =
    width === 4
      ? number(bytes, at + 1, end)
      : number(bytes, at + 1, at + 3) * 60 + (width > 3 ? number(bytes, end - 2, end) : 0);
  return (bytes[at] === MINUS ? -minutes : minutes) * 60_000;
}

function isWordEnd(bytes: Buffer, at: number, end: number): boolean {
  return at >= end || !(isDigit(bytes[at]) || isLetter(bytes[at]));
}

function isDateMark(byte: number | undefined): boolean {
  return byte === SPACE || byte === MINUS || byte === SLASH || byte === DOT;
}

/** Sets the date if there is such a day; without a year (`null`), in a leap year. The year 0000 is one, and not valid. */
function isDate(time: WrittenTime, year: number | null, month: number, day: number): boolean {
  if (year !== null && (year < MIN_YEAR || year > MAX_YEAR)) return false;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year ?? 2000, month)) return false;
  time.year = year ?? 0;
  time.month = month;
  time.day = day;
  return true;
}

function number(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + (bytes[at] ?? 48) - 48;
  return value;
}

/** Digits below milliseconds are truncated, not rounded. */
function fractionMs(bytes: Buffer, start: number, end: number): number {
  let ms = 0;
  for (let at = start; at < start + 3; at++) ms = ms * 10 + (at < end ? (bytes[at] ?? 48) - 48 : 0);
  return ms;
}

function startsWithCodes(bytes: Buffer, at: number, end: number, codes: readonly number[]): boolean {
  if (at + codes.length > end) return false;
  for (let index = 0; index < codes.length; index++) if (bytes[at + index] !== codes[index]) return false;
  return true;
}

const MONTHS = [
  ['jan', 'january', 'januar', 'jän', 'jänner', 'janv', 'janvier', 'ene', 'enero'],
  ['feb', 'february', 'februar', 'fév', 'févr', 'février', 'febrero'],
  ['mar', 'march', 'märz', 'mär', 'mrz', 'mars', 'marzo'],
  ['apr', 'april', 'avr', 'avril', 'abr', 'abril'],
  ['may', 'mai', 'mayo'],
  ['jun', 'june', 'juni', 'juin', 'junio'],
  ['jul', 'july', 'juli', 'juil', 'juillet', 'julio'],
  ['aug', 'august', 'août', 'ago', 'agosto'],
  ['sep', 'sept', 'september', 'septembre', 'septiembre'],
  ['oct', 'october', 'okt', 'oktober', 'octobre', 'octubre'],
  ['nov', 'november', 'novembre', 'noviembre'],
  ['dec', 'december', 'dez', 'dezember', 'déc', 'décembre', 'dic', 'diciembre'],
];

export const MONTH_NAMES: readonly string[] = MONTHS.flat();
const MONTHS_BY_NAME = new Map(
  MONTHS.flatMap((names, index) => names.map((name) => [latin1(Buffer.from(name)), index + 1])),
);
const MONTHS_BY_KEY = new Map(
  MONTHS.flatMap((names, index) =>
    names.filter((name) => /^[a-z]{3}$/.test(name)).map((name) => [nameKey(Buffer.from(name), 0), index + 1]),
  ),
);
const LONGEST_NAME = 12;

/** A name of letters of several bytes as a key that does not depend on the case. */
function latin1(name: Buffer): string {
  return name.toString('latin1').toLowerCase();
}

function nameKey(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) | 0x20) << 16) | (((bytes[at + 1] ?? 0) | 0x20) << 8) | ((bytes[at + 2] ?? 0) | 0x20);
}

/** The month whose name is at `at`, in English and a few other languages, 1 to 12; 0 if there is none. */
function readMonthName(bytes: Buffer, at: number, end: number): number {
  const to = skipName(bytes, at, end);
  if (to - at < 3 || to - at > LONGEST_NAME) return 0;
  if (to - at === 3) return MONTHS_BY_KEY.get(nameKey(bytes, at)) ?? 0;
  return MONTHS_BY_NAME.get(latin1(bytes.subarray(at, to))) ?? 0;
}

/** The position after the name and its full stop. */
function monthNameEnd(bytes: Buffer, at: number, end: number): number {
  return skipName(bytes, at, end);
}

function skipName(bytes: Buffer, at: number, end: number): number {
  let to = at;
  while (to < end && (isLetter(bytes[to]) || (bytes[to] ?? 0) >= 0x80)) to++;
  return to;
}

export const WEEKDAY_NAMES: readonly string[] = 'mon tue wed thu fri sat sun'.split(' ');
const WEEKDAYS = new Map(WEEKDAY_NAMES.map((name) => [nameKey(Buffer.from(name), 0), true]));

/** The first bytes of all names of months and weekdays. */
const NAME_STARTS = new Set([
  ...WEEKDAYS.keys(),
  ...MONTHS.flatMap((names) => names.map((name) => nameKey(Buffer.from(name), 0))),
]);

/** Three capitals, as of a zone, or two letters of a German weekday and what follows them. */
function isZoneLike(bytes: Buffer, at: number): boolean {
  const third = bytes[at + 2];
  return third === COMMA || third === DOT || (isCapital(bytes[at + 1]) && isCapital(third));
}

/** The position after a weekday and what separates it from the date; negative if there is none. */
function skipWeekday(bytes: Buffer, at: number, end: number): number {
  const to = skipLetters(bytes, at, end);
  const length = to - at;
  if (length < 2 || length > 10) return -1;
  // Of two letters in German: `Di, 17. Nov 2026`.
  if (length === 2 ? bytes[to] !== COMMA && bytes[to] !== DOT : !WEEKDAYS.has(nameKey(bytes, at))) return -1;
  let next = to;
  while (next < end && next < to + 3 && (bytes[next] === SPACE || bytes[next] === COMMA || bytes[next] === DOT)) next++;
  return next > to ? next : -1;
}
