/*
 * The inner loops of scanning, in AssemblyScript (TypeScript syntax, compiled to WebAssembly with SIMD). `npm run
 * kernel` compiles it to src/kernel/scan-wasm.ts, which src/kernel/scan-kernel.ts loads. Nothing is allocated here, and
 * every function may read up to 64 bytes beyond the end it is given.
 */

export { column } from './scan/columns';
export { contextPath, jsonPath } from './scan/json-path';
export { walk, walkFour } from './scan/walk';
export { escapes } from './scrub/escapes';
export { findGrams } from './scrub/find-grams';

const NEWLINE: u8 = 10;

/** Memory layout, read by the host. */
export const LEVEL_WORDS: u32 = 1024;
export const NEEDLE: u32 = 2048;
export const MASK: u32 = 3072;
export const MAX_NEEDLE: u32 = 1024;
export const POSITIONS: u32 = 4096;
export const MAX_HEADS: u32 = 16384;
export const TIMES: u32 = POSITIONS + MAX_HEADS * 4;
export const LEVELS: u32 = TIMES + MAX_HEADS * 8;
/** All positions, passed in and returned, count from here. */
export const TEXT: u32 = 262144;
/** Free space before the text: what precedes a part is read into it, to decide what must be masked at its start. */
export const TEXT_ROOM: u32 = 32768;
/** The text region: two blocks and a lookahead. */
export const TEXT_CAPACITY: u32 = 655360;
/** Line starts; a block may have as many as bytes. */
export const LINES: u32 = TEXT + TEXT_CAPACITY;
export const MAX_LINES: u32 = 262144;
/**
 * An automaton: for each byte the offset of its column in a row, in bytes, and the rows, which hold addresses of rows.
 */
export const BYTE_CLASSES: u32 = 0;
export const ROWS: u32 = LINES + MAX_LINES * 4;
export const ROWS_BYTES: u32 = 262144;
/** The row `walk` ended in, or the four rows of `walkFour`. */
export const REACHED: u32 = ROWS + ROWS_BYTES;
/** Search tables for masking secrets, and the hits: see grams.ts. */
export const GRAMS: u32 = REACHED + 64;
export const GRAM_HASHES: u32 = 65536;
export const INTRODUCERS: u32 = GRAMS + GRAM_HASHES;
export const FOLLOW: u32 = INTRODUCERS + 16;
export const PAIRS: u32 = FOLLOW + 256;
export const FIRSTS: u32 = PAIRS + 8192;
export const HITS: u32 = FIRSTS + 256;
export const MAX_HITS: u32 = 65536;
/** The path for `jsonPath`; start and end of the first value found, or of a column, and whether it has escapes. */
export const PATH: u32 = HITS + MAX_HITS * 4;
export const MAX_PATH: u32 = 1024;
export const FOUND_VALUE: u32 = PATH + MAX_PATH;
export const MEMORY_BYTES: u32 = FOUND_VALUE + 16;

const INFO_RANK: u8 = 3;

/** Letters of the longest level word. */
const LONGEST_LEVEL: u32 = 8;

/** Positions after each newline in `[from, to)`, written to LINES. Returns how many. */
export function lineStarts(from: u32, to: u32): u32 {
  const newline = i8x16.splat(NEWLINE);
  const stop = TEXT + to;
  let written = LINES;
  let at = TEXT + from;
  while (at < stop) {
    const a = i8x16.eq(v128.load(at), newline);
    const b = i8x16.eq(v128.load(at, 16), newline);
    const c = i8x16.eq(v128.load(at, 32), newline);
    const d = i8x16.eq(v128.load(at, 48), newline);
    if (v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)))) {
      let bits = bits64(a, b, c, d);
      do {
        const line = at + <u32>ctz(bits) + 1;
        if (line > stop) return (written - LINES) >> 2;
        store<u32>(written, line - TEXT);
        written += 4;
        bits &= bits - 1;
      } while (bits !== 0);
    }
    at += 64;
  }
  return (written - LINES) >> 2;
}

/**
 * The first position of the needle in `[from, to)`, or -1. MASK holds, per byte of the needle, the bits to set before
 * comparing: 0x20 for a letter of either case. Two bytes of the needle, at `i` and `j`, are compared first.
 */
export function find(from: u32, to: u32, length: u32, i: u32, j: u32): i32 {
  if (to < from + length) return -1;
  const last = TEXT + to - length;
  const byteI = i8x16.splat(load<u8>(NEEDLE + i));
  const byteJ = i8x16.splat(load<u8>(NEEDLE + j));
  const maskI = i8x16.splat(load<u8>(MASK + i));
  const maskJ = i8x16.splat(load<u8>(MASK + j));
  let at = TEXT + from;
  while (at <= last) {
    const hitA = v128.and(
      i8x16.eq(v128.or(v128.load(at + i), maskI), byteI),
      i8x16.eq(v128.or(v128.load(at + j), maskJ), byteJ),
    );
    const hitB = v128.and(
      i8x16.eq(v128.or(v128.load(at + i, 16), maskI), byteI),
      i8x16.eq(v128.or(v128.load(at + j, 16), maskJ), byteJ),
    );
    const hitC = v128.and(
      i8x16.eq(v128.or(v128.load(at + i, 32), maskI), byteI),
      i8x16.eq(v128.or(v128.load(at + j, 32), maskJ), byteJ),
    );
    const hitD = v128.and(
      i8x16.eq(v128.or(v128.load(at + i, 48), maskI), byteI),
      i8x16.eq(v128.or(v128.load(at + j, 48), maskJ), byteJ),
    );
    if (v128.any_true(v128.or(v128.or(hitA, hitB), v128.or(hitC, hitD)))) {
      let bits = bits64(hitA, hitB, hitC, hitD);
      while (bits !== 0) {
        const candidate = at + <u32>ctz(bits);
        if (candidate > last) return -1;
        if (equals(candidate, length)) return candidate - TEXT;
        bits &= bits - 1;
      }
    }
    at += 64;
  }
  return -1;
}

function equals(at: u32, length: u32): bool {
  for (let k: u32 = 0; k < length; k++) {
    if ((load<u8>(at + k) | load<u8>(MASK + k)) !== load<u8>(NEEDLE + k)) return false;
  }
  return true;
}

/**
 * A hash of `[from, to)` that detects whether a block has changed. Sixteen lanes at a time; each step is a bijection of
 * the lane, so a change of a single word is always detected and others are missed once in 2^32.
 */
export function checksum(from: u32, to: u32): u32 {
  const stop = TEXT + to;
  let at = TEXT + from;
  let a = i32x4.splat(1);
  let b = i32x4.splat(2);
  let c = i32x4.splat(3);
  let d = i32x4.splat(4);
  while (at + 64 <= stop) {
    a = mixLanes(a, v128.load(at));
    b = mixLanes(b, v128.load(at, 16));
    c = mixLanes(c, v128.load(at, 32));
    d = mixLanes(d, v128.load(at, 48));
    at += 64;
  }
  let hash = mixLanesInto(mixLanesInto(mixLanesInto(mixLanesInto(to - from, a), b), c), d);
  for (; at < stop; at++) hash = mix(hash, load<u8>(at));
  return hash;
}

function mixLanes(hash: v128, value: v128): v128 {
  const product = i32x4.mul(v128.xor(hash, value), i32x4.splat(0x9e3779b1));
  return v128.xor(product, i32x4.shr_u(product, 15));
}

function mixLanesInto(hash: u32, lanes: v128): u32 {
  const two = mix(mix(hash, i32x4.extract_lane(lanes, 0)), i32x4.extract_lane(lanes, 1));
  return mix(mix(two, i32x4.extract_lane(lanes, 2)), i32x4.extract_lane(lanes, 3));
}

function mix(hash: u32, value: u32): u32 {
  const product = (hash ^ value) * 0x9e3779b1;
  return product ^ (product >> 15);
}

// The results of `heads` so far, and the minute of the previous line.
let count: u32 = 0;
let minuteBytes: v128 = i8x16.splat(0);
let minuteMs: f64 = -1;

/**
 * Lines that start in `[from, to)`, `from` being a line start, with `YYYY-MM-DD hh:mm:ss[.,fraction]`. For each: its
 * position (u32), its wall-clock time in ms as if it were UTC (f64), and the rank of the level word in the column after
 * it (u8, 0: none). Lines may extend beyond `to`, up to `limit`. Only lines whose level has at least `rank`; in that
 * case `letters` has a bit for each letter such a level word may start with. Returns the number of lines.
 */
export function heads(from: u32, to: u32, limit: u32, rank: u8, letters: u32): u32 {
  const newline = i8x16.splat(NEWLINE);
  const stop = TEXT + to;
  const end = TEXT + limit;
  count = 0;
  headAtLeast(TEXT + from, end, rank, letters);
  let at = TEXT + from;
  while (at < stop) {
    const a = i8x16.eq(v128.load(at), newline);
    const b = i8x16.eq(v128.load(at, 16), newline);
    const c = i8x16.eq(v128.load(at, 32), newline);
    const d = i8x16.eq(v128.load(at, 48), newline);
    if (v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)))) {
      let bits: u64 = bits64(a, b, c, d);
      do {
        const line = at + <u32>ctz(bits) + 1;
        if (line >= stop) return count;
        headAtLeast(line, end, rank, letters);
        bits &= bits - 1;
      } while (bits !== 0);
    }
    at += 64;
  }
  return count;
}

/** Skips most lines after testing one byte, unless all lines are wanted. */
function headAtLeast(line: u32, limit: u32, rank: u8, letters: u32): void {
  if (rank === 0) {
    head(line, limit);
    return;
  }
  const separator = load<u8>(line + 23);
  const mark = load<u8>(line + 19);
  // After a time with milliseconds the level word starts at byte 24; it cannot be anywhere else.
  if ((separator === 9 || separator === 32) && (mark === 46 || mark === 44)) {
    const letter = (<u32>load<u8>(line + 24) | 32) - 96;
    if (letter > 26 || ((letters >> letter) & 1) === 0) return;
  }
  const before = count;
  head(line, limit);
  if (count > before && load<u8>(LEVELS + before) < rank) count = before;
}

function head(line: u32, limit: u32): void {
  if (line + 19 > limit || load<u8>(line + 16) !== 58) return;
  const bytes = v128.load(line);
  // Lines of the same minute start with the same bytes, so that prefix is parsed once.
  if (minuteMs < 0 || !i8x16.all_true(i8x16.eq(bytes, minuteBytes))) {
    const ms = minuteOf(line);
    if (ms === INVALID) return;
    minuteMs = ms;
    minuteBytes = bytes;
  }
  const second = twoDigits(line + 17);
  if (second > 60) return;
  let end = line + 23;
  let ms = milliseconds(line + 19);
  if (ms > 999 || end > limit || <u32>load<u8>(end) - 48 <= 9) {
    end = fractionEnd(line + 19, limit);
    ms = fractionMs(line + 20, end);
  }
  store<u32>(POSITIONS + (count << 2), line - TEXT);
  store<f64>(TIMES + (count << 3), minuteMs + <f64>(second * 1000 + ms));
  store<u8>(LEVELS + count, levelBehind(end, limit));
  count++;
}

/** Parses `.` or `,` and three digits, the usual case; returns more than 999 for anything else. */
function milliseconds(at: u32): u32 {
  const mark = load<u8>(at);
  if (mark !== 46 && mark !== 44) return 1000;
  const a = <u32>load<u8>(at + 1) - 48;
  const b = <u32>load<u8>(at + 2) - 48;
  const c = <u32>load<u8>(at + 3) - 48;
  return a <= 9 && b <= 9 && c <= 9 ? a * 100 + b * 10 + c : 1000;
}

/** The position after a mark and any number of digits; `at` itself if there is no fraction. */
function fractionEnd(at: u32, limit: u32): u32 {
  const mark = load<u8>(at);
  if (at >= limit || (mark !== 46 && mark !== 44)) return at;
  let end = at + 1;
  while (end < limit && <u32>load<u8>(end) - 48 <= 9) end++;
  return end === at + 1 ? at : end;
}

function fractionMs(from: u32, end: u32): u32 {
  let ms: u32 = 0;
  let scale: u32 = 100;
  for (let at = from; at < end && scale > 0; at++) {
    ms += (<u32>load<u8>(at) - 48) * scale;
    scale /= 10;
  }
  return ms;
}

/** Earlier than any valid time. */
const INVALID: f64 = -1e15;

/** Parses two digits; returns more than 99 if one of them is not a digit. */
function twoDigits(at: u32): u32 {
  const tens = <u32>load<u8>(at) - 48;
  const ones = <u32>load<u8>(at + 1) - 48;
  return tens <= 9 && ones <= 9 ? tens * 10 + ones : 1000;
}

function minuteOf(line: u32): f64 {
  if (load<u8>(line + 4) !== 45 || load<u8>(line + 7) !== 45 || load<u8>(line + 10) !== 32) return INVALID;
  if (load<u8>(line + 13) !== 58) return INVALID;
  const century = twoDigits(line);
  const yearOfCentury = twoDigits(line + 2);
  const month = twoDigits(line + 5);
  const day = twoDigits(line + 8);
  const hour = twoDigits(line + 11);
  const minute = twoDigits(line + 14);
  if (century > 99 || yearOfCentury > 99 || month < 1 || month > 12 || hour > 23 || minute > 59) return INVALID;
  const year = <i32>(century * 100 + yearOfCentury);
  if (day < 1 || day > daysIn(year, month)) return INVALID;
  return <f64>daysFromCivil(year, month, day) * 86400000.0 + <f64>(hour * 3600000 + minute * 60000);
}

function daysIn(year: i32, month: u32): u32 {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days since 1970-01-01, counting years from March so that the leap day comes last. Years are not negative. */
function daysFromCivil(year: i32, month: u32, day: u32): i32 {
  const shifted = month <= 2 ? year - 1 : year;
  const era = (shifted >= 0 ? shifted : shifted - 399) / 400;
  const yearOfEra = shifted - era * 400;
  const dayOfYear = (153 * (<i32>month + (month > 2 ? -3 : 9)) + 2) / 5 + <i32>day - 1;
  const dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  return era * 146097 + dayOfEra - 719468;
}

const INFO_TAB: u64 = 0x09_4f_46_4e_49;
const FIVE_BYTES: u64 = 0xff_ff_ff_ff_ff;

/** The rank of the word between the separator at `end` and the next tab or line end; 0 if it is not a level. */
function levelBehind(end: u32, limit: u32): u8 {
  const separator = load<u8>(end);
  if (end >= limit || (separator !== 9 && separator !== 32)) return 0;
  // The most frequent level by far; the test costs the others next to nothing.
  if (end + 6 <= limit && (load<u64>(end + 1) & FIVE_BYTES) === INFO_TAB) return INFO_RANK;
  let key: u64 = 0;
  let at = end + 1;
  const stop = min(at + LONGEST_LEVEL + 1, limit);
  while (at < stop) {
    const byte = load<u8>(at);
    if (byte === 9 || byte === NEWLINE) break;
    if (byte === 13 && (at + 1 >= limit || load<u8>(at + 1) === NEWLINE)) break;
    const letter = (byte | 32) - 96;
    if (letter < 1 || letter > 26) return 0;
    key = (key << 5) | <u64>letter;
    at++;
  }
  return key === 0 ? 0 : rankOf(key);
}

/** Looks the word up in the table filled by the host: key and rank as u64 each, terminated by a key of 0. */
function rankOf(key: u64): u8 {
  let row: u32 = LEVEL_WORDS;
  while (true) {
    const known = load<u64>(row);
    if (known === key) return <u8>load<u64>(row, 8);
    if (known === 0) return 0;
    row += 16;
  }
}

function bits64(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    <u64>(<u32>i8x16.bitmask(a)) |
    ((<u64>(<u32>i8x16.bitmask(b))) << 16) |
    ((<u64>(<u32>i8x16.bitmask(c))) << 32) |
    ((<u64>(<u32>i8x16.bitmask(d))) << 48)
  );
}
