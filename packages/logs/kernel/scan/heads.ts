/* Finds the lines that start records in the native format. Part of ../scan.ts. */
import { bits64, CHECKSUM, LEVEL_WORDS, LEVELS, LINES, POSITIONS, TEXT, TIMES } from '../scan';
import { mixFour, mixLanes, mixRest } from './checksum';

const NEWLINE: u8 = 10;

const INFO_RANK: u8 = 3;

/** Letters of the longest level word. */
const LONGEST_LEVEL: u32 = 8;

// The results of `heads` so far, and the minute of the previous line.
let count: u32 = 0;
let minuteBytes: v128 = i8x16.splat(0);
let minuteMs: f64 = -1;

/**
 * Lines that start in `[from, to)`, `from` being a line start, with `YYYY-MM-DD hh:mm:ss[.,fraction]`. For each: its
 * position (u32), its wall-clock time in ms as if it were UTC (f64), and the rank of the level word in the column after
 * it (u8, 0: none). Lines may extend beyond `to`, up to `limit`. Returns the number of lines.
 */
export function heads(from: u32, to: u32, limit: u32): u32 {
  const newline = i8x16.splat(NEWLINE);
  const stop = TEXT + to;
  const end = TEXT + limit;
  count = 0;
  head(TEXT + from, end);
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
        head(line, end);
        bits &= bits - 1;
      } while (bits !== 0);
    }
    at += 64;
  }
  return count;
}

/**
 * The same for the lines after a newline in `[0, to)`, but only those whose level has at least `rank`; `letters` has a bit
 * for each letter such a level word may start with. The checksum of `[0, hashTo)`, which contains `[0, to)`, is left in
 * CHECKSUM: in one pass they take little longer than one of them.
 */
export function headsAtLeast(to: u32, limit: u32, hashTo: u32, rank: u8, letters: u32): u32 {
  const stop = TEXT + hashTo;
  let a = i32x4.splat(1);
  let b = i32x4.splat(2);
  let c = i32x4.splat(3);
  let d = i32x4.splat(4);
  let e = i32x4.splat(5);
  let f = i32x4.splat(6);
  let g = i32x4.splat(7);
  let h = i32x4.splat(8);
  let written = LINES;
  let at = TEXT;
  while (at + 128 <= stop) {
    const bytes0 = v128.load(at);
    const bytes1 = v128.load(at, 16);
    const bytes2 = v128.load(at, 32);
    const bytes3 = v128.load(at, 48);
    const bytes4 = v128.load(at, 64);
    const bytes5 = v128.load(at, 80);
    const bytes6 = v128.load(at, 96);
    const bytes7 = v128.load(at, 112);
    const lines = newlines(bytes0, bytes1, bytes2, bytes3, bytes4, bytes5, bytes6, bytes7);
    a = mixLanes(a, bytes0);
    b = mixLanes(b, bytes1);
    c = mixLanes(c, bytes2);
    d = mixLanes(d, bytes3);
    e = mixLanes(e, bytes4);
    f = mixLanes(f, bytes5);
    g = mixLanes(g, bytes6);
    h = mixLanes(h, bytes7);
    let low: u64 = i64x2.extract_lane(lines, 0);
    let high: u64 = i64x2.extract_lane(lines, 1);
    while ((low | high) !== 0) {
      const isLow = low !== 0;
      const bit = <u32>ctz(isLow ? low : high);
      const line = at + (isLow ? 1 : 9) + (bit >> 3) + ((bit & 7) << 4);
      high = isLow ? high : high & (high - 1);
      low &= low - 1;
      // Overwritten by the next line unless it may have such a level.
      store<u32>(written, line);
      written += (<u32>mayHaveLevel(load<u64>(line + 17), letters)) << 2;
    }
    at += 128;
  }
  store<u32>(CHECKSUM, mixRest(mixFour(mixFour(hashTo, a, b, c, d), e, f, g, h), at, stop));
  for (; at < stop; at++) {
    if (load<u8>(at) !== NEWLINE) continue;
    store<u32>(written, at + 1);
    written += 4;
  }
  return headsIn(written, TEXT + to, TEXT + limit, rank);
}

/** For each byte of a vector, a bit for each of the eight vectors: whether it is a newline. */
function newlines(a: v128, b: v128, c: v128, d: v128, e: v128, f: v128, g: v128, h: v128): v128 {
  const newline = i8x16.splat(NEWLINE);
  const ab = v128.bitselect(i8x16.eq(a, newline), i8x16.eq(b, newline), i8x16.splat(0x55));
  const cd = v128.bitselect(i8x16.eq(c, newline), i8x16.eq(d, newline), i8x16.splat(0x55));
  const ef = v128.bitselect(i8x16.eq(e, newline), i8x16.eq(f, newline), i8x16.splat(0x55));
  const gh = v128.bitselect(i8x16.eq(g, newline), i8x16.eq(h, newline), i8x16.splat(0x55));
  const abcd = v128.bitselect(ab, cd, i8x16.splat(0x33));
  const efgh = v128.bitselect(ef, gh, i8x16.splat(0x33));
  return v128.bitselect(abcd, efgh, i8x16.splat(0x0f));
}

/**
 * By the bytes 17 to 24 of a line: after a time with milliseconds the level word starts at byte 24, and cannot be
 * anywhere else.
 */
function mayHaveLevel(bytes: u64, letters: u32): bool {
  const separator = (bytes >> 48) & 255;
  const isBehindTime = (((bytes >> 16) & 255) | 2) === 46 && (separator === 9 || separator === 32);
  const first = <u32>(bytes >> 56);
  return !isBehindTime || ((letters >> (first & 31)) & (first >> 6) & 1) !== 0;
}

/** The heads at the positions in LINES that start before `stop` and have at least this rank. */
function headsIn(written: u32, stop: u32, limit: u32, rank: u8): u32 {
  count = 0;
  for (let entry = LINES; entry < written; entry += 4) {
    const line = load<u32>(entry);
    // Those of the same 128 bytes may not be in order.
    let place = entry;
    for (; place > LINES && load<u32>(place - 4) > line; place -= 4) store<u32>(place, load<u32>(place - 4));
    store<u32>(place, line);
  }
  for (let entry = LINES; entry < written; entry += 4) {
    const line = load<u32>(entry);
    if (line >= stop) break;
    const before = count;
    head(line, limit);
    if (count > before && load<u8>(LEVELS + before) < rank) count = before;
  }
  return count;
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
export function rankOf(key: u64): u8 {
  let row: u32 = LEVEL_WORDS;
  while (true) {
    const known = load<u64>(row);
    if (known === key) return <u8>load<u64>(row, 8);
    if (known === 0) return 0;
    row += 16;
  }
}
