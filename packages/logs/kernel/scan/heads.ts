/* Finds the lines that start records, by what the host has learned of the file's lines. Part of ../scan.ts. */
import {
  bits64,
  CLASSES,
  ENTRY_SLOTS,
  LEVELS,
  NAMED_STARTS,
  POSITIONS,
  PROGRAM,
  PROGRAM_ENTRIES,
  REACHED,
  TEXT,
  TIMES,
  ZONE_STARTS,
} from '../scan';
import { isContinued, isKnownLevel, isRelayedJson, NO_RECORD, readRank } from './levels';

const TAB: u8 = 9;
const NEWLINE: u8 = 10;
const RETURN: u8 = 13;
const SPACE: u8 = 32;
const OPEN_PARENTHESIS: u8 = 40;
const PLUS: u8 = 43;
const COMMA: u8 = 44;
const MINUS: u8 = 45;
const DOT: u8 = 46;
const COLON: u8 = 58;
const LESS: u8 = 60;
const AT: u8 = 64;
const OPEN_BRACKET: u8 = 91;
const OPEN_BRACE: u8 = 123;
const BYTE_ORDER_MARK: u8 = 0xef;

/** Bits of CLASSES. */
export const LEFT: u8 = 1;
export const RIGHT: u8 = 2;
export const SEPARATOR: u8 = 4;
const LEADING_MARK: u8 = 8;
export const METHOD_START: u8 = 16;
export const DIGIT: u8 = 32;

/** Instead of the rank of a level: the host must read the line. */
export const UNSURE: u8 = 255;

/** Where the time of a line is, PROGRAM[0]; by default the host reads every line. */
const AT_START: u32 = 1;

/** Bits of PROGRAM[12]. */
const INDENTED: u32 = 1;
const MAY_REJECT: u32 = 2;

/** Longer lines are read by the host. */
const LONGEST_LINE: u32 = 4000;

/** A time that is not at the start of a line is searched for in this much of it. */
const SEARCHED_BYTES: u32 = 256;

/** The parts of an entry of PROGRAM_ENTRIES. */
const ENTRY_BYTES: u32 = 208;
const PREFIX: u32 = 48;
const PREFIX_MASK: u32 = 96;
const TAIL: u32 = 144;
const TAIL_MASK: u32 = 176;

/** Bits of what may follow the time of an entry. */
const YEAR_MAY_FOLLOW: u32 = 1;
const JSON_MAY_FOLLOW: u32 = 2;
const IS_GLOG: u32 = 4;
const IS_BARE: u32 = 8;

// The results of `heads` so far, the entry of a line, and where and when its time is.
let count: u32 = 0;
let current: u32 = 0;
let timeEnd: u32 = 0;
let timeMs: f64 = 0;
let isCandidate: bool = false;
// Lines of the same minute have the same bytes there: how far it is from the start of 1970, and of which entry.
let minuteBytes: u64 = 0;
let minuteEntry: u32 = 0;
let minuteMs: f64 = 0;

/**
 * Lines that start in `[from, to)`, `from` being a line start, and may start records. For each: its position (u32), its
 * time (f64), and the rank of its level (u8, 0: none); or UNSURE, and instead of the time where the line ends, 0 if
 * that is not known. They are added to the first `known` ones. Lines may
 * extend beyond `to`, up to `limit`. Returns the number of lines, after at most `most` unsure ones; where it stopped
 * and how many those are is left in REACHED.
 */
export function heads(from: u32, to: u32, limit: u32, known: u32, most: u32): u32 {
  const newline = i8x16.splat(NEWLINE);
  const stop = TEXT + to;
  const end = TEXT + limit;
  const isUnknown = load<u32>(PROGRAM) === 0;
  let unsure: u32 = 0;
  count = known;
  minuteEntry = 0;
  let line = TEXT + from;
  let at = line;
  while (at < end && line < stop) {
    const a = i8x16.eq(v128.load(at), newline);
    const b = i8x16.eq(v128.load(at, 16), newline);
    const c = i8x16.eq(v128.load(at, 32), newline);
    const d = i8x16.eq(v128.load(at, 48), newline);
    if (v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)))) {
      let bits: u64 = bits64(a, b, c, d);
      do {
        const next = at + <u32>ctz(bits);
        if (next >= end) break;
        bits &= bits - 1;
        if (next > line) {
          if (isUnknown || !head(line, next)) {
            add(line, <f64>(next + 1 - TEXT), UNSURE);
            if (++unsure >= most) {
              store<u32>(REACHED, next + 1 - TEXT);
              store<u32>(REACHED, unsure, 4);
              return count;
            }
          }
        }
        line = next + 1;
      } while (bits !== 0 && line < stop);
    }
    at += 64;
  }
  // The last line may have more bytes than are loaded.
  if (line < stop && line < end) {
    add(line, 0, UNSURE);
    unsure++;
  }
  store<u32>(REACHED, unsure, 4);
  store<u32>(REACHED, to);
  return count;
}

function add(line: u32, time: f64, rank: u8): void {
  store<u32>(POSITIONS + (count << 2), line - TEXT);
  store<f64>(TIMES + (count << 3), time);
  store<u8>(LEVELS + count, rank);
  count++;
}

/** Adds the line, which ends before the newline at `newline`, if it starts a record. False: the host must read it. */
function head(line: u32, newline: u32): bool {
  const end = load<u8>(newline - 1) === RETURN ? newline - 1 : newline;
  if (end <= line) return true;
  if (end - line > LONGEST_LINE) return false;
  const flags = load<u32>(PROGRAM, 12);
  const first = load<u8>(line);
  if ((flags & INDENTED) === 0 && (first === SPACE || first === TAB)) return true;
  const isAtStart = load<u32>(PROGRAM) === AT_START;
  const timeAt = isAtStart ? line : findBehind(line, end, first);
  if (timeAt === 0 || (isAtStart && !matchTime(line, end))) {
    return (flags & MAY_REJECT) !== 0 && (isAtStart || !isCandidate) && !mayHaveTime(line, first);
  }
  const entry = current;
  const follows = load<u32>(entry, 40);
  if ((follows & JSON_MAY_FOLLOW) !== 0 && isRelayedJson(timeEnd, end)) return false;
  if ((follows & IS_GLOG) !== 0 && isContinued(timeEnd, end)) return true;
  const from = isAtStart ? line + load<u32>(entry, 44) : line;
  const rank = readRank(entry, from, isAtStart ? line + load<u32>(entry, 36) : timeAt, timeEnd, end);
  if (rank === NO_RECORD) return true;
  if (rank === UNSURE) return false;
  add(line, timeMs, rank);
  return true;
}

/**
 * The position of the time behind other columns: behind the first byte that precedes times, where something is that looks
 * like one. 0: there is none; `isCandidate` says whether something looks like one.
 */
function findBehind(line: u32, end: u32, first: u8): u32 {
  isCandidate = true;
  if (first === LESS || first === BYTE_ORDER_MARK || first === OPEN_BRACE) return 0;
  const before = <u8>load<u32>(PROGRAM, 4);
  const mostWords = load<u32>(PROGRAM, 8);
  const limit = min(end, line + SEARCHED_BYTES);
  let words: u32 = 0;
  for (let at = line + 1; at < limit; at++) {
    const left = load<u8>(at - 1);
    const byte = load<u8>(at);
    if (byte === SPACE && left !== SPACE && ++words > mostWords) break;
    if (left !== before || !(isDigit(byte) || byte === AT || isLetter(byte))) continue;
    if (matchTime(at, end)) return at;
    if (mayBeTime(at, byte)) return 0;
  }
  isCandidate = false;
  return 0;
}

/** Whether the line may have a time at its start, marks included, in any spelling. */
function mayHaveTime(line: u32, first: u8): bool {
  if (first === LESS || first === BYTE_ORDER_MARK || first === OPEN_BRACE) return true;
  if ((load<u8>(CLASSES + first) & LEADING_MARK) !== 0) return true;
  return mayBeTime(line, first);
}

/** Whether a time may start here: with a digit, the name of a month or a weekday, a key, or a letter before digits. */
function mayBeTime(at: u32, byte: u8): bool {
  if (isDigit(byte) || byte === AT) return true;
  if (!isLetter(byte)) return false;
  const second = load<u8>(at, 1);
  const third = load<u8>(at, 2);
  return !isLetter(second) || !isLetter(third) || hasBit(NAMED_STARTS, byte, second, third);
}

/** Whether a set of words has one that starts with these letters. */
function hasBit(set: u32, a: u8, b: u8, c: u8): bool {
  const key = ((<u32>a & 31) << 10) | ((<u32>b & 31) << 5) | (<u32>c & 31);
  return ((load<u8>(set + (key >> 3)) >> (<u8>key & 7)) & 1) !== 0;
}

/** Whether the time at `at` is one of the entries but for its clock; leaves it in `current`, `timeMs` and `timeEnd`. */
function matchTime(at: u32, end: u32): bool {
  // Lines of several levels may have times that start differently; those of a day follow each other.
  const slot = ENTRY_SLOTS + (((load<u32>(at) * 0x9e3779b1) >> 27) << 2);
  const stop = PROGRAM_ENTRIES + load<u32>(PROGRAM, 16) * ENTRY_BYTES;
  current = load<u32>(slot);
  for (let entry = PROGRAM_ENTRIES; current === 0 || !isEntry(current, at, end); entry += ENTRY_BYTES) {
    if (entry >= stop) return false;
    current = entry;
  }
  store<u32>(slot, current);
  return true;
}

function isEntry(entry: u32, at: u32, end: u32): bool {
  const width = load<u32>(entry);
  const clock = at + width;
  if (clock + 8 > end) return false;
  for (let done: u32 = 0; done < width; done += 16) {
    const differ = v128.xor(v128.load(at + done), v128.load(entry + PREFIX + done));
    if (v128.any_true(v128.and(differ, v128.load(entry + PREFIX_MASK + done)))) return false;
  }
  const minute = load<u64>(clock) & MINUTE_BYTES;
  if (minute !== minuteBytes || entry !== minuteEntry) {
    if (!readMinute(entry, clock)) return false;
    minuteBytes = minute;
    minuteEntry = entry;
  }
  const second = twoDigits(clock + 6);
  if (second > 59) return false;
  let to = clock + 8;
  let ms: u32 = 0;
  const mark = <u8>load<u32>(entry, 8);
  if (mark !== 0) {
    if (load<u8>(to) !== mark) return false;
    const start = ++to;
    let scale: u32 = 100;
    for (let digit = <u32>load<u8>(to) - 48; digit <= 9; digit = <u32>load<u8>(++to) - 48) {
      ms += digit * scale;
      scale = scale === 100 ? 10 : scale === 10 ? 1 : 0;
    }
    if (to === start || to - start > 9) return false;
  } else if (isDigit(load<u8>(to))) return false;
  const tail = load<u32>(entry, 4);
  if (tail > 0) {
    if (to + tail > end) return false;
    for (let done: u32 = 0; done < tail; done += 16) {
      const differ = v128.xor(v128.load(to + done), v128.load(entry + TAIL + done));
      if (v128.any_true(v128.and(differ, v128.load(entry + TAIL_MASK + done)))) return false;
    }
    to += tail;
  }
  const follows = load<u32>(entry, 40);
  // What follows the time is mostly a level that has followed such times before.
  const kind = ((<u32>(tail > 0)) << 8) | ((<u32>(mark !== 0)) << 9);
  if (!isKnownLevel(entry, kind, to, end) && to < end && !endsTime(to, end, follows, mark !== 0, tail > 0))
    return false;
  timeEnd = to;
  timeMs = minuteMs + <f64>(second * 1000 + ms);
  return true;
}

/** `hh:mm:` of eight bytes. */
const MINUTE_BYTES: u64 = 0xff_ff_ff_ff_ff_ff;

/** Reads hour and minute to `minuteMs`; false if they are none, or not among those of the entry. */
function readMinute(entry: u32, clock: u32): bool {
  minuteEntry = 0;
  if (load<u8>(clock, 2) !== COLON || load<u8>(clock, 5) !== COLON) return false;
  const hour = twoDigits(clock);
  const minute = twoDigits(clock + 3);
  if (hour > 23 || minute > 59) return false;
  const ms = (hour * 60 + minute) * 60000;
  if (ms < load<u32>(entry, 24) || ms >= load<u32>(entry, 28)) return false;
  minuteMs = load<f64>(entry, 16) + <f64>ms;
  return true;
}

/** Whether what follows a time is surely no part of it: no fraction, AM or PM, zone or year. */
function endsTime(at: u32, end: u32, follows: u32, hasFraction: bool, hasTail: bool): bool {
  const byte = load<u8>(at);
  if (byte === TAB) return true;
  const next = at + 1 < end ? load<u8>(at, 1) : SPACE;
  if (byte === DOT || byte === COMMA || byte === COLON) return !isDigit(next) && !(byte === DOT && hasTail);
  if ((follows & IS_BARE) !== 0) return hasFraction || !isDigit(byte);
  if (byte === PLUS || byte === MINUS) return !hasTail && !isDigit(next);
  if (isDigit(byte) || isLetter(byte) || byte >= 0x80) return false;
  if (byte === OPEN_BRACKET || byte === OPEN_PARENTHESIS) return hasTail ? !isLetter(next) : !mayBeZone(at + 1);
  if (byte !== SPACE || at + 1 >= end) return true;
  if (isDigit(next)) return (follows & YEAR_MAY_FOLLOW) === 0 || !isYear(at + 1);
  if (next === PLUS || next === MINUS) return !isDigit(load<u8>(at, 2));
  if (next === OPEN_BRACKET || next === OPEN_PARENTHESIS) return !mayBeZone(at + 2);
  if (!isLetter(next)) return true;
  const folded = next | 32;
  const after = load<u8>(at, 2);
  if ((folded === 97 || folded === 112) && (after === DOT || ((after | 32) === 109 && !isLetter(load<u8>(at, 3)))))
    return false;
  return !mayBeZone(at + 1);
}

function isYear(at: u32): bool {
  return isDigit(load<u8>(at, 1)) && isDigit(load<u8>(at, 2)) && isDigit(load<u8>(at, 3));
}

function mayBeZone(at: u32): bool {
  const a = load<u8>(at);
  const b = load<u8>(at, 1);
  const c = load<u8>(at, 2);
  return isLetter(a) && a < 97 && isLetter(b) && isLetter(c) && hasBit(ZONE_STARTS, a, b, c);
}

/** Parses two digits; returns more than 99 if one of them is not a digit. */
function twoDigits(at: u32): u32 {
  const tens = <u32>load<u8>(at) - 48;
  const ones = <u32>load<u8>(at + 1) - 48;
  return tens <= 9 && ones <= 9 ? tens * 10 + ones : 1000;
}

export function isDigit(byte: u8): bool {
  return <u32>byte - 48 <= 9;
}

export function isLetter(byte: u8): bool {
  return <u32>(byte | 32) - 97 <= 25;
}
