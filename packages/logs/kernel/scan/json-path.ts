/* Finds the values at a path of a JSON object, without parsing it. Part of ../scan.ts. */

import { FOUND_VALUE, PATH, TEXT } from '../scan';
import { behindEscape, behindLiteral, FAILED, isDigit } from './json-bytes';
import { addValue, beginValues, keepShape, matchShape, SCALAR, STRING, WANTED } from './json-shapes';

const TAB: u8 = 9;
const NEWLINE: u8 = 10;
const CARRIAGE_RETURN: u8 = 13;
const SPACE: u8 = 32;
const QUOTE: u8 = 34;
const PLUS: u8 = 43;
const COMMA: u8 = 44;
const MINUS: u8 = 45;
const DOT: u8 = 46;
const ZERO: u8 = 48;
const COLON: u8 = 58;
const OPEN_BRACKET: u8 = 91;
const BACKSLASH: u8 = 92;
const CLOSE_BRACKET: u8 = 93;
const OPEN_BRACE: u8 = 123;
const CLOSE_BRACE: u8 = 125;

/** Deeper text is left to the parser, which has a limit of its own. */
const MAX_DEPTH: u32 = 64;

/** How a value is on the path: it is not, or it is what the path leads to. Otherwise so much of the path leads to it. */
export const OFF: i32 = -1;
const AT_END: i32 = -2;

/** One in each of eight bytes. */
const ONES: u64 = u64.MAX_VALUE / 0xff;

/** The end of the text, the length of the path, and the state of the current call. */
export let stop: u32 = 0;
let pathBytes: u32 = 0;
let depth: u32 = 0;
let count: i32 = 0;
export let hasEscape: bool = false;

/**
 * How many values the object in the line `[from, to)`, which may have a line break, has at the path of `length` bytes in
 * PATH. Where the first one is, without its quotes, is left in FOUND_VALUE, and whether it has escapes. Negative: the
 * text is no object, or unusual, or has several lines.
 */
export function jsonPath(from: u32, to: u32, length: u32): i32 {
  const known = matchShape(from, trimmedEnd(from, to), true);
  if (known >= 0) return known;
  const end = lineEnd(from, to);
  return end < 0 ? -1 : objectPath(from, <u32>end, length);
}

export function setStop(end: u32): void {
  stop = end;
}

/** Prepares to read text that ends at `to`, and values at a path of `length` bytes. */
export function begin(to: u32, length: u32): void {
  stop = TEXT + to;
  pathBytes = length;
  depth = 0;
  count = 0;
  beginValues();
}

function objectPath(from: u32, to: u32, length: u32): i32 {
  begin(to, length);
  if (from >= to || load<u8>(TEXT + from) !== OPEN_BRACE) return -1;
  const end = readObject(TEXT + from, 0);
  if (end === FAILED || skipSpace(end) !== stop) return -1;
  keepShape(from, to);
  return count;
}

/**
 * The same for the context of a line of the native format: an object in its last column. Negative also if it is a
 * matter of the columns before it whether there is one.
 */
export function contextPath(from: u32, to: u32, length: u32): i32 {
  const end = lineEnd(from, to);
  if (end < 0) return -1;
  if (<u32>end <= from) return 0;
  const last = load<u8>(TEXT + end - 1);
  // What precedes a hole may be an object.
  if (last !== CLOSE_BRACE) return last === 0 ? -1 : 0;
  const tab = lastTab(from, end);
  if (tab < 0) return -1;
  const known = matchShape(tab + 1, end, true);
  return known >= 0 ? known : objectPath(tab + 1, end, length);
}

/** The end of the line `[from, to)` without its line break; negative if there is another line. */
export function lineEnd(from: u32, to: u32): i32 {
  const newline = i8x16.splat(NEWLINE);
  const last = TEXT + (to > from && load<u8>(TEXT + to - 1) === NEWLINE ? to - 1 : to);
  let at = TEXT + from;
  for (; at + 16 <= last; at += 16) if (v128.any_true(i8x16.eq(v128.load(at), newline))) return -1;
  for (; at < last; at++) if (load<u8>(at) === NEWLINE) return -1;
  return trimmedEnd(from, to);
}

/** The end of a line without its line break. */
export function trimmedEnd(from: u32, to: u32): u32 {
  let end = to;
  if (end > from && load<u8>(TEXT + end - 1) === NEWLINE) end--;
  if (end > from && load<u8>(TEXT + end - 1) === CARRIAGE_RETURN) end--;
  return end;
}

/** The last tab of `[from, to)`; negative if there is none. */
function lastTab(from: u32, to: u32): i32 {
  const tab = i8x16.splat(TAB);
  let at = TEXT + to;
  while (at >= TEXT + from + 16) {
    at -= 16;
    const bits = i8x16.bitmask(i8x16.eq(v128.load(at), tab));
    if (bits !== 0) return at - TEXT + 31 - clz(bits);
  }
  while (at > TEXT + from) {
    at--;
    if (load<u8>(at) === TAB) return at - TEXT;
  }
  return -1;
}

/** The position after the value at `at`. */
export function readValue(at: u32, on: i32): u32 {
  if (at >= stop) return FAILED;
  const first = load<u8>(at);
  if (first === QUOTE) {
    const end = readString(at);
    if (end === FAILED) return FAILED;
    addValue(at + 1, end - 1, on === AT_END ? STRING | WANTED : STRING);
    if (on === AT_END) found(at + 1, end - 1, hasEscape);
    return end;
  }
  if (first === OPEN_BRACE) return readObject(at, on === AT_END ? OFF : on);
  if (first === OPEN_BRACKET) return readArray(at, on);
  const end = first === MINUS || isDigit(first) ? readNumber(at) : behindLiteral(at);
  if (end === FAILED) return FAILED;
  addValue(at, end, on === AT_END ? SCALAR | WANTED : SCALAR);
  if (on === AT_END) found(at, end, false);
  return end;
}

function readObject(start: u32, on: i32): u32 {
  if (++depth > MAX_DEPTH) return FAILED;
  let at = behindSpace(start + 1);
  if (load<u8>(at) === CLOSE_BRACE) return leave(at);
  // Single bytes may be read beyond the end: what then ends there does not end at `stop`.
  while (at < stop) {
    if (load<u8>(at) !== QUOTE) return FAILED;
    const keyEnd = readString(at);
    // A key of the path may be written with escapes.
    if (keyEnd === FAILED || hasEscape) return FAILED;
    const memberOn = on < 0 ? OFF : follow(at + 1, keyEnd - 1, on);
    at = behindSpace(keyEnd);
    if (load<u8>(at) !== COLON) return FAILED;
    at = readValue(behindSpace(at + 1), memberOn);
    if (at === FAILED) return FAILED;
    at = behindSpace(at);
    const next = load<u8>(at);
    if (next === CLOSE_BRACE) return leave(at);
    if (next !== COMMA) return FAILED;
    at = behindSpace(at + 1);
  }
  return FAILED;
}

/** Its elements are on the path where it is. */
function readArray(start: u32, on: i32): u32 {
  if (++depth > MAX_DEPTH) return FAILED;
  let at = skipSpace(start + 1);
  if (at < stop && load<u8>(at) === CLOSE_BRACKET) return leave(at);
  while (at < stop) {
    at = readValue(at, on);
    if (at === FAILED) return FAILED;
    at = skipSpace(at);
    if (at >= stop) return FAILED;
    const next = load<u8>(at);
    if (next === CLOSE_BRACKET) return leave(at);
    if (next !== COMMA) return FAILED;
    at = skipSpace(at + 1);
  }
  return FAILED;
}

function leave(at: u32): u32 {
  depth--;
  return at + 1;
}

/** Where the value of the key `[start, end)` is on the path, whose first `on` bytes lead to the key. */
function follow(start: u32, end: u32, on: i32): i32 {
  const behind = <u32>on + end - start;
  if (behind > pathBytes) return OFF;
  let pathAt = PATH + <u32>on;
  for (let at = start; at < end; at++, pathAt++) if (load<u8>(at) !== load<u8>(pathAt)) return OFF;
  if (behind === pathBytes) return AT_END;
  return load<u8>(PATH + behind) === DOT ? <i32>behind + 1 : OFF;
}

/** The position after the closing quote of the string at `start`. */
export function readString(start: u32): u32 {
  hasEscape = false;
  const end = stop;
  let at = start + 1;
  while (at < end) {
    const special = specialBytes(load<u64>(at));
    if (special === 0) {
      at += 8;
      continue;
    }
    at += <u32>(ctz(special) >> 3);
    const byte = load<u8>(at);
    if (at >= end || byte < SPACE) return FAILED;
    if (byte === QUOTE) return at + 1;
    hasEscape = true;
    at = behindEscape(at + 1);
    if (at === FAILED) return FAILED;
  }
  return FAILED;
}

/** Of eight bytes, the high bit of the first one that is a quote, a backslash or a control character. */
function specialBytes(bytes: u64): u64 {
  const quotes = bytes ^ (ONES * QUOTE);
  const backslashes = bytes ^ (ONES * BACKSLASH);
  const isQuote = (quotes - ONES) & ~quotes;
  const isBackslash = (backslashes - ONES) & ~backslashes;
  const isControl = (bytes - ONES * SPACE) & ~bytes;
  return (isQuote | isBackslash | isControl) & (ONES * 0x80);
}

/** The position after the number at `start`. */
export function readNumber(start: u32): u32 {
  const whole = load<u8>(start) === MINUS ? start + 1 : start;
  let at = skipDigits(whole);
  if (at === FAILED || (load<u8>(whole) === ZERO && at > whole + 1)) return FAILED;
  if (at < stop && load<u8>(at) === DOT) at = skipDigits(at + 1);
  if (at === FAILED || at >= stop || (load<u8>(at) | 0x20) !== 101) return at;
  const sign = load<u8>(at + 1);
  return skipDigits(sign === PLUS || sign === MINUS ? at + 2 : at + 1);
}

/** The position after at least one digit. */
function skipDigits(start: u32): u32 {
  const end = stop;
  let at = start;
  while (at < end && isDigit(load<u8>(at))) at++;
  return at > start ? at : FAILED;
}

/** Mostly there is none. */
export function behindSpace(at: u32): u32 {
  return load<u8>(at) > SPACE ? at : skipSpace(at);
}

export function skipSpace(start: u32): u32 {
  const end = stop;
  let at = start;
  while (at < end) {
    const byte = load<u8>(at);
    if (byte > SPACE) break;
    if (byte !== SPACE && byte !== TAB && byte !== 10 && byte !== 13) break;
    at++;
  }
  return at;
}

function found(start: u32, end: u32, isEscaped: bool): void {
  if (count++ > 0) return;
  store<u32>(FOUND_VALUE, start - TEXT);
  store<u32>(FOUND_VALUE + 4, end - TEXT);
  store<u32>(FOUND_VALUE + 8, isEscaped ? 1 : 0);
}
