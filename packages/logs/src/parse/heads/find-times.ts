import type { FormatOptions } from '../format.ts';
import { isDigit, isLetter, startsWith } from '../formats/tokens/byte-scan.ts';
import { createDatelessClock, createYearlessClock } from '../formats/tokens/partial-times.ts';
import { wallClockMs } from '../timestamp.ts';
import { createZone } from '../zone.ts';
import { applyOrder, type DateOrder, readWrittenTime, type Spelling, type WrittenTime } from './time-spellings.ts';

/** Times are searched for in this much of a line. */
export const SEARCHED_BYTES = 256;

/** Where a time is expected in the lines of a file. Plain data. */
export interface TimeSlot {
  spelling: Spelling;
  /** At the start of the line, but for marks like brackets; or behind other columns. */
  place: 'start' | 'behind';
  /** The byte before a time that is behind other columns: other times of the line may be text. */
  before: number;
  /** How many words may precede it. */
  mostWords: number;
  /** It follows `tag: `, as what a syslog daemon relays does: further ones are of messages. */
  relayed?: boolean;
}

/** Marks that may precede a time at the start of a line: `[2026-11-17`, `*Nov 17`, `("2026`. */
export const LEADING_MARKS = new Uint8Array(256);
for (const mark of '[]("\'<{*.#|=;>,~+!') LEADING_MARKS[mark.charCodeAt(0)] = 1;
const MOST_MARKS = 4;

/**
 * The position of the first byte that is not a leading mark, where a time at the start of a line would be: also behind a
 * key, as in `ts=2026-11-17` and `time="2026-11-17`.
 */
export function skipLeadingMarks(bytes: Buffer, start: number, end: number): number {
  let at = isLetter(bytes[start]) ? skipTimeKey(bytes, start, end) : start;
  const limit = Math.min(end, at + MOST_MARKS);
  while (at < limit && (LEADING_MARKS[bytes[at] ?? 0] === 1 || (bytes[at] === 32 && at > start))) at++;
  return at;
}

export const TIME_KEYS = ['time', 'ts', 't', 'timestamp', 'date', 'datetime'].map((key) => `${key}=`);

function skipTimeKey(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start];
  if (first !== 116 && first !== 100) return start;
  const key = TIME_KEYS.find((text) => startsWith(bytes, start, end, text));
  return key === undefined ? start : start + key.length;
}

/** Whether a time may start at this position: where a word does, and not within an address, a version or a number. */
function mayStartTime(bytes: Buffer, start: number, at: number): boolean {
  const byte = bytes[at] ?? 0;
  const digit = byte >= 48 && byte <= 57;
  if (!digit && byte !== 64 && !isLetter(byte)) return false;
  if (at === start) return true;
  const before = bytes[at - 1] ?? 0;
  if (before >= 48 && before <= 57) return false;
  if (isLetter(before) || before === 95) return digit && isYearAt(bytes, at);
  if (!digit || at - 2 < start) return true;
  // In 10.20.30 and 1:2:3 the second number starts no time.
  const isJoint = before === 46 || before === 58 || before === 47 || before === 45 || before === 44;
  if (!isJoint || !isDigit(bytes[at - 2]) || isYearAt(bytes, at)) return true;
  // Windows' DHCP server writes date and time as columns of numbers: `24,11/17/26,18:33:04`.
  return before === 44 && (bytes[at + 1] === 47 || bytes[at + 2] === 47);
}

/** Four digits and the mark of a date, or the eight digits of one. */
function isYearAt(bytes: Buffer, at: number): boolean {
  const mark = bytes[at + 4];
  const isCompact = bytes[at] === 50 && bytes[at + 1] === 48 && isDigit(bytes[at + 7]) && bytes[at + 8] === 58;
  return (
    (mark === 45 || mark === 47 || (isCompact && isDigit(mark))) &&
    isDigit(bytes[at + 1]) &&
    isDigit(bytes[at + 2]) &&
    isDigit(bytes[at + 3]) &&
    isDigit(bytes[at + 5])
  );
}

/** Calls `visit` for every time near the start of a line, in order, until it returns true. */
export function findTimes(
  bytes: Buffer,
  start: number,
  end: number,
  time: WrittenTime,
  visit: (at: number) => boolean,
): boolean {
  const limit = Math.min(end, start + SEARCHED_BYTES);
  for (let at = start; at < limit; at++) {
    if (!mayStartTime(bytes, start, at) || !readWrittenTime(bytes, at, end, time)) continue;
    if (time.spelling === 'clock' && isBehindDate(bytes, start, at)) continue;
    if (visit(at)) return true;
    at = Math.max(at, time.end - 1);
  }
  return false;
}

/** The position of the time in its slot; negative if the line has none there. Leaves the time in `time`. */
export function readSlot(bytes: Buffer, start: number, end: number, slot: TimeSlot, time: WrittenTime): number {
  if (slot.place === 'start') {
    const at = skipLeadingMarks(bytes, start, end);
    return readWrittenTime(bytes, at, end, time) && time.spelling === slot.spelling ? at : -1;
  }
  const limit = Math.min(end, start + SEARCHED_BYTES);
  let words = 0;
  for (let at = start; at < limit; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === 32 && at > start && bytes[at - 1] !== 32 && ++words > slot.mostWords) return -1;
    if (at > start ? bytes[at - 1] !== slot.before : true) continue;
    if (slot.relayed && !isRelayed(bytes, at)) continue;
    if (!mayStartTime(bytes, start, at) || !readWrittenTime(bytes, at, end, time)) continue;
    if (time.spelling === slot.spelling && !(time.spelling === 'clock' && isBehindDate(bytes, start, at))) return at;
  }
  return -1;
}

/**
 * Whether what starts at `at` follows the head that a syslog daemon writes, which ends with the colon behind the tag or
 * with the data of RFC 5424: `[a="b"] ` or ` - - `.
 */
export function isRelayed(bytes: Buffer, at: number): boolean {
  if (bytes[at - 1] !== 32) return false;
  const last = bytes[at - 2];
  return last === 58 || last === 93 || (last === 45 && bytes[at - 4] === 45);
}

/** Whether a date precedes the clock at `at`: one that does not exist, or the time would start with it. */
function isBehindDate(bytes: Buffer, start: number, at: number): boolean {
  let marks = 0;
  for (let left = at - 2; left >= start; left--) {
    const byte = bytes[left] ?? 0;
    if (byte === 45 || byte === 47 || byte === 46) marks++;
    else if (!isDigit(byte)) break;
  }
  return marks === 2 && isDigit(bytes[at - 2]);
}

/** Words in front of a position, separated by spaces. */
export function countWords(bytes: Buffer, start: number, at: number): number {
  let words = 0;
  for (let index = start + 1; index < at; index++) if (bytes[index] === 32 && bytes[index - 1] !== 32) words++;
  return words;
}

const UTC = createZone('UTC');

/** Completes what times leave out, for one file: the instant in epoch ms, or `NaN`. */
type CompleteTime = (time: WrittenTime) => number;

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
