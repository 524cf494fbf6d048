/* Finds the columns of lines in the native format that have a level. Part of ../scan.ts. */
import { FOUND_VALUE, TEXT } from '../scan';

const TAB: u8 = 9;
const NEWLINE: u8 = 10;
const SPACE: u8 = 32;
const COLON: u8 = 58;
const OPEN_BRACKET: u8 = 91;
const CLOSE_BRACKET: u8 = 93;

/** The date and the time of day, to the second. */
const TIME_BYTES: u32 = 19;

/** Longer words are no levels. */
const LONGEST_LEVEL: u32 = 8;

/** Instead of a position: there is none. */
export const NONE: u32 = 0;

/**
 * Finds the source of the record `[from, to)`, which starts with a time and a level, or its tags with their brackets.
 * Returns 1 if it has some, left in FOUND_VALUE; 0 if it has none; negative if it is unusual.
 */
export function column(from: u32, to: u32, isTags: bool): i32 {
  const stop = TEXT + to;
  const start = behindLevel(TEXT + from, stop);
  if (start === NONE) return -1;
  const sourceEnd = findSourceEnd(start, stop);
  if (!isTags) return sourceEnd === NONE ? 0 : found(start, sourceEnd);
  const body = sourceEnd === NONE ? start : sourceEnd + 1;
  let at = body;
  while (at < stop && load<u8>(at) === OPEN_BRACKET) {
    // Whether a tab is part of a tag depends on what follows it.
    while (at < stop && load<u8>(at) !== CLOSE_BRACKET) {
      const byte = load<u8>(at++);
      if (byte === TAB) return -1;
      if (byte === NEWLINE) return 0;
    }
    at++;
    if (at >= stop) return 0;
    if (load<u8>(at) === COLON) return found(body, at);
    if (load<u8>(at) === SPACE) at++;
  }
  return 0;
}

/** The position behind the tab after the level. */
export function behindLevel(line: u32, stop: u32): u32 {
  let at = line + TIME_BYTES;
  if (at >= stop) return NONE;
  const mark = load<u8>(at);
  if (mark === 46 || mark === 44) {
    const digits = ++at;
    while (at < stop && isDigit(load<u8>(at))) at++;
    if (at === digits) return NONE;
  }
  if (at >= stop || (load<u8>(at) !== TAB && load<u8>(at) !== SPACE)) return NONE;
  at++;
  const end = min(at + LONGEST_LEVEL + 1, stop);
  for (; at < end; at++) {
    const byte = load<u8>(at);
    if (byte === TAB) return at + 1;
    if (byte < SPACE) return NONE;
  }
  return NONE;
}

/** The tab after a column without spaces that ends in `:digits`. */
export function findSourceEnd(start: u32, stop: u32): u32 {
  const tab = i8x16.splat(TAB);
  const space = i8x16.splat(SPACE);
  const newline = i8x16.splat(NEWLINE);
  let at = start;
  for (; at < stop; at += 16) {
    const bytes = v128.load(at);
    const ends = v128.or(v128.or(i8x16.eq(bytes, tab), i8x16.eq(bytes, space)), i8x16.eq(bytes, newline));
    if (!v128.any_true(ends)) continue;
    at += <u32>ctz(i8x16.bitmask(ends));
    break;
  }
  if (at >= stop || at <= start || load<u8>(at) !== TAB) return NONE;
  let colon = at - 1;
  while (colon > start && isDigit(load<u8>(colon))) colon--;
  return colon < at - 1 && colon > start && load<u8>(colon) === COLON ? at : NONE;
}

function found(start: u32, end: u32): i32 {
  store<u32>(FOUND_VALUE, start - TEXT);
  store<u32>(FOUND_VALUE + 4, end - TEXT);
  return 1;
}

function isDigit(byte: u8): bool {
  return byte >= 48 && byte <= 57;
}
