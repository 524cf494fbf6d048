import { parseJson } from '@porthole/records';
import { readLevelWord, severityRank, valueLetterRank } from '../../level.ts';
import type { Zone } from '../../zone.ts';
import { isDigit, skipDigits, startsWith } from './byte-scan.ts';
import { readIsoTime } from './iso-time.ts';

/** A time given as a value: ISO text, or a number of seconds, ms, µs or ns since 1970. `NaN` if it is not a time. */
export function readTimeToken(bytes: Buffer, start: number, end: number, zone: Zone): number {
  const digitsEnd = skipDigits(bytes, start, end);
  // The fifth byte of ISO text is not a digit.
  if (digitsEnd !== start + 4) return epochMs(bytes, start, digitsEnd, end);
  const time = { timeMs: 0, end: 0 };
  return readIsoTime(bytes, start, end, zone, time) ? time.timeMs : Number.NaN;
}

/**
 * The unit is determined by the number of digits, which covers the years 1973 to 5138 for each: shorter numbers are
 * durations and counters rather than times. Digits below milliseconds are truncated, not rounded.
 */
function epochMs(bytes: Buffer, start: number, digitsEnd: number, end: number): number {
  const digits = digitsEnd - start;
  if (digits < 9 || digits > 20) return Number.NaN;
  const fractionAt = digitsEnd + 1;
  if (digitsEnd < end && (bytes[digitsEnd] !== 46 || skipDigits(bytes, fractionAt, end) !== end)) return Number.NaN;
  if (digits < 12) return number(bytes, start, digitsEnd) * 1000 + milliseconds(bytes, fractionAt, end);
  // 20261117183304 is a date, and would be the year 2612.
  if (digits === 14 && bytes[start] === 50 && bytes[start + 1] === 48) return Number.NaN;
  if (digits < 15) return number(bytes, start, digitsEnd);
  return number(bytes, start, digits < 18 ? digitsEnd - 3 : digitsEnd - 6);
}

function number(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + (bytes[at] ?? 48) - 48;
  return value;
}

function milliseconds(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < start + 3; at++) value = value * 10 + (at < end ? (bytes[at] ?? 48) - 48 : 0);
  return value;
}

/** The rank of a level given as a value: a word, its first letter, or 10 (trace) to 60 (fatal) as of pino and bunyan. */
export function readLevelToken(bytes: Buffer, from: number, to: number): number {
  // Elasticsearch pads them: ` INFO`.
  let [start, end] = [from, to];
  while (start < end && bytes[start] === 32) start++;
  while (end > start && bytes[end - 1] === 32) end--;
  const length = end - start;
  if (length <= 0) return 0;
  if (!isDigit(bytes[start])) {
    // MongoDB writes debug levels as D1 to D5.
    if (length === 1 || (length === 2 && isDigit(bytes[start + 1]))) return valueLetterRank(bytes[start]);
    // MySQL's JSON sink has labels `System`, `Error`, `Warning` and `Note`.
    return readLevelWord(bytes, start, end) || (isSystem(bytes, start, end) ? 3 : 0);
  }
  const digit = (bytes[start] ?? 48) - 48;
  return length === 2 && isDigit(bytes[start + 1]) && digit <= 6 ? digit : 0;
}

function isSystem(bytes: Buffer, start: number, end: number): boolean {
  return end - start === 6 && startsWith(bytes, start, end, 'System');
}

/** The rank of a severity of syslog, journald or GELF, 0 (emergency) to 7 (debug); 0 if it is not one. */
export function readSeverityDigit(bytes: Buffer, start: number, end: number): number {
  return end - start === 1 ? severityRank((bytes[start] ?? 0) - 48) : 0;
}

/** Unquotes a value; what is not quoted, or badly quoted, is returned as is. */
export function unquote(text: string): string {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return text;
  const value = parseJson(text);
  return value === undefined ? text.slice(1, -1) : String(value);
}
