import { parseJson } from '../../exact-context.ts';
import type { Zone } from '../../zone.ts';
import { isDigit, skipDigits } from './byte-scan.ts';
import { readIsoTime } from './iso-time.ts';
import { readLevelWord } from './level-word.ts';

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

/** The rank of a level given as a value: a word, or 10 (trace) to 60 (fatal) as written by pino and bunyan. */
export function readLevelToken(bytes: Buffer, start: number, end: number): number {
  if (start >= end || !isDigit(bytes[start])) return readLevelWord(bytes, start, end);
  if (end - start !== 2 || !isDigit(bytes[start + 1])) return 0;
  const tens = (bytes[start] ?? 48) - 48;
  return tens <= 6 ? tens : 0;
}

/** Unquotes a value; what is not quoted, or badly quoted, is returned as is. */
export function unquote(text: string): string {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return text;
  const value = parseJson(text);
  return value === undefined ? text.slice(1, -1) : String(value);
}
