/*
 * Reads the level of a line whose time was found, as src/parse/heads/ does: what is unusual is left to that. Part of
 * ../scan.ts.
 */
import {
  CLASSES,
  CLOSING,
  COLUMN_WORDS,
  KNOWN_LEVELS,
  LETTER_RANKS,
  LEVEL_KEYS,
  LEVEL_WORDS,
  METHODS,
  PROGRAM,
  PROGRAM_LETTERS,
  PROGRAM_SLOTS,
  REMARKS,
  WORD_LENGTHS,
} from '../scan';
import { DIGIT, isDigit, isLetter, LEFT, METHOD_START, RIGHT, SEPARATOR, UNSURE } from './heads';

const TAB: u8 = 9;
const SPACE: u8 = 32;
const QUOTE: u8 = 34;
const COLON: u8 = 58;
const SLASH: u8 = 47;
const OPEN_BRACE: u8 = 123;
const OPEN_BRACKET: u8 = 91;
const CLOSE_BRACKET: u8 = 93;
const BAR: u8 = 124;
const EQUAL: u8 = 61;
const COMMA: u8 = 44;
const MINUS: u8 = 45;
const DOT: u8 = 46;
const UNDERSCORE: u8 = 95;
const INFO_RANK: u8 = 3;

/** Instead of a rank: the line belongs to the record before it. */
export const NO_RECORD: u8 = 254;

/** Where the level of lines of a slot is, besides its columns: PROGRAM_SLOTS[0]. */
const IS_STATUS: u32 = 1;
const IS_MARK: u32 = 2;
const IS_REPORT: u32 = 4;
const IS_COLUMN: u32 = 8;
const SLOT_BYTES: u32 = 256;
const COLUMN_BYTES: u32 = 24;

/** Levels are searched for in this much of a line on either side of the time, and in this many words before it. */
const SEARCHED_BYTES: u32 = 320;
const MOST_WORDS: u32 = 24;
const LONGEST_WORD: u32 = 13;
const KEY_LETTERS: u32 = 10;

/** What is known of a word of LEVEL_WORDS besides its rank. */
const IS_SPOKEN: u32 = 8;
const RANK_BITS: u32 = 7;

/** The side behind the time, as looks have it. */
const AFTER: u64 = 62;

const NONE: u32 = 0xffffffff;

// The best column that has a level, and its rank; the look of the last candidate.
let best: u32 = NONE;
let bestRank: u8 = 0;
let look: u64 = 0;
// How far what follows the time was looked at to find the level.
let seenEnd: u32 = 0;

/** The rank of the level of a line, or UNSURE, or NO_RECORD. */
export function readRank(entry: u32, from: u32, timeAt: u32, timeEnd: u32, end: u32): u8 {
  const slot = PROGRAM_SLOTS + (load<u32>(entry, 12) & 255) * SLOT_BYTES;
  const other = load<u32>(slot);
  if ((other & IS_COLUMN) !== 0) return knownLevel !== UNSURE ? knownLevel : columnRank(timeEnd, end);
  let rank: u8 = (other & IS_REPORT) !== 0 ? reportRank(timeEnd, end) : 0;
  if (rank >= NO_RECORD) return rank;
  if (rank === 0) rank = <u8>load<u32>(entry, 32);
  if (rank === 0) {
    if ((other & IS_MARK) !== 0) rank = markRank(timeEnd, end);
    else {
      rank = knownLevel !== UNSURE ? knownLevel : levelRank(slot, from, timeAt, timeEnd, end);
      if (rank === UNSURE) return UNSURE;
      if (rank === 0 && ((other & IS_STATUS) !== 0 || isQuoted(timeEnd))) rank = statusRank(timeEnd, end);
    }
  }
  if (rank === 0) rank = messageRank(timeEnd, end);
  if (rank === 0) rank = <u8>(load<u32>(entry, 12) >> 8);
  if (rank <= INFO_RANK && load<u32>(PROGRAM, 20) !== 0 && mayReportCrash(timeEnd, end)) return UNSURE;
  return rank;
}

/** The level in one of the columns of the slot, of which the best counts. */
function levelRank(slot: u32, from: u32, timeAt: u32, timeEnd: u32, end: u32): u8 {
  const before = load<u32>(slot, 8);
  const after = load<u32>(slot, 12);
  best = NONE;
  bestRank = 0;
  const columns = slot + 16;
  if (before + after === 0) return 0;
  if (before > 0 && !findLevels(from, timeAt, 60, MOST_WORDS, columns, before)) return UNSURE;
  if (after > 0 && best > 0) {
    const isSure = findLevels(timeEnd, end, 62, load<u32>(slot, 4), columns + before * COLUMN_BYTES, after);
    if (!isSure) return UNSURE;
    if (before === 0 && best === 0) addKnown(timeEnd, seenEnd, end, bestRank);
  }
  return bestRank;
}

const KNOWN_BYTES: u32 = 48;
const MOST_KNOWN: u32 = 12;

// The level that follows the time of the line, and times of which kind and slot it has followed.
let knownLevel: u8 = UNSURE;
let knownKind: u32 = 0;

/** Whether the bytes at `at` are a level that has been read behind a time of this kind before. */
export function isKnownLevel(entry: u32, kind: u32, at: u32, end: u32): bool {
  knownKind = kind | (load<u32>(entry, 12) & 255);
  knownLevel = UNSURE;
  if (at + 16 > end) return false;
  const bytes = v128.load(at);
  const stop = KNOWN_LEVELS + load<u32>(PROGRAM, 24) * KNOWN_BYTES;
  for (let row = KNOWN_LEVELS; row < stop; row += KNOWN_BYTES) {
    const differ = v128.and(v128.xor(bytes, v128.load(row)), v128.load(row, 16));
    if (v128.any_true(differ) || load<u32>(row, 32) !== knownKind) continue;
    knownLevel = <u8>load<u32>(row, 36);
    return true;
  }
  return false;
}

/** At least as many bytes as are looked at to find that a time ends. */
const LEAST_KNOWN: u32 = 5;

/** Adds a level that was found by looking at `[start, seen)`. */
function addKnown(start: u32, seen: u32, end: u32, rank: u8): void {
  const count = load<u32>(PROGRAM, 24);
  if (count === MOST_KNOWN || start + 16 > end || seen > start + 16 || seen < start + LEAST_KNOWN) return;
  const row = KNOWN_LEVELS + count * KNOWN_BYTES;
  v128.store(row, v128.load(start));
  memory.fill(row + 16, 0, 16);
  memory.fill(row + 16, 255, seen - start);
  store<u32>(row, knownKind, 32);
  store<u32>(row, rank, 36);
  store<u32>(PROGRAM, count + 1, 24);
}

/** False: a word is unusual. */
function findLevels(from: u32, to: u32, side: u64, mostWords: u32, columns: u32, size: u32): bool {
  const limit = min(to, from + SEARCHED_BYTES);
  let index: u32 = 0;
  let inWord = false;
  let bracketEnd: u32 = 0;
  for (let at = from; at < limit && index < mostWords; at++) {
    const byte = load<u8>(at);
    if (byte === SPACE || byte === TAB) {
      if (inWord && at >= bracketEnd) {
        index++;
        inWord = false;
      }
      continue;
    }
    if (!inWord) {
      if ((load<u8>(CLASSES + byte) & SEPARATOR) !== 0) continue;
      inWord = true;
      if (byte === OPEN_BRACKET) bracketEnd = closingBracket(at, limit);
    }
    if (!isLetter(byte)) continue;
    let wordEnd = at + 1;
    while (wordEnd < limit && isLetter(load<u8>(wordEnd))) wordEnd++;
    const isWord = at === from || (load<u8>(CLASSES + load<u8>(at - 1)) & LEFT) !== 0;
    // `LOG_ERR`
    if (isWord && byte === 76 && wordEnd === at + 3 && load<u8>(wordEnd) === UNDERSCORE) return false;
    if (wordEnd - at <= LONGEST_WORD && isWord && !(side === AFTER && isPart(at, from))) {
      const rank = candidateRank(at, wordEnd, from, to);
      if (rank === UNSURE) return false;
      // A letter that stands for something else has NO_RECORD.
      if (rank > 0 && rank < NO_RECORD) {
        look += side * (look < 16384 ? 16384 : look < 2097152 ? 2097152 : 268435456);
        const shown = wordEnd - at === 1 ? load<u8>(PROGRAM_LETTERS + byte) : rank;
        if (isInColumn(index, shown === UNSURE ? rank : shown, columns, size)) {
          seenEnd = max(seenEnd, bracketEnd);
          return true;
        }
      }
    }
    at = wordEnd - 1;
  }
  return true;
}

/** Whether a dash joins the word with the one before it: `AUTH-ERROR:`. */
function isPart(at: u32, from: u32): bool {
  if (at < from + 2 || load<u8>(at - 1) !== MINUS) return false;
  const joined = load<u8>(at - 2);
  return isLetter(joined) || isDigit(joined) || joined === QUOTE;
}

/** Notes the candidate if it is in a column; whether that is the best of all. */
function isInColumn(index: u32, rank: u8, columns: u32, size: u32): bool {
  for (let column = columns; column < columns + size * COLUMN_BYTES; column += COLUMN_BYTES) {
    const place = load<u32>(column, 16);
    if (place >= best) break;
    if (load<u64>(column) !== look || index < load<u32>(column, 8) || index > load<u32>(column, 12)) continue;
    best = place;
    bestRank = rank;
  }
  return best === 0;
}

/** The rank of the letters `[start, wordEnd)`, whose look is left in `look`; 0 if they are no level. */
function candidateRank(start: u32, wordEnd: u32, from: u32, to: u32): u8 {
  let end = wordEnd;
  seenEnd = wordEnd + 4;
  const first = load<u8>(start);
  let rank: u8 = 0;
  if (end - start === 1) {
    rank = start === from && first === 100 ? 2 : load<u8>(LETTER_RANKS + first);
    // A small letter between spaces right behind the time.
    if (rank === 0 && start === from + 1 && load<u8>(from) === SPACE && load<u8>(end) === SPACE) return UNSURE;
    // `T:1234` is a key and its value.
    if (load<u8>(end) === COLON && end + 1 < to && isDigit(load<u8>(end, 1))) return 0;
    if (end < to && first === 68 && isDigit(load<u8>(end)) && load<u8>(end) <= 53) end++;
  } else {
    const word = findWord(start, end);
    if (word === 0) return 0;
    rank = <u8>(word & RANK_BITS);
    // A word that is a level behind a key only.
    if (rank === 0) return hasLevelKey(start, from) ? UNSURE : 0;
    if (end < to && isDigit(load<u8>(end))) return UNSURE;
    if (rank === 2 && load<u8>(end) === SPACE && isNumbered(end + 1)) return UNSURE;
    if (rank === 6 && load<u8>(end) === SPACE && load<u8>(end, 1) === 101) return UNSURE;
  }
  if (rank === 0) return 0;
  if (end < to) {
    const right = load<u8>(end);
    const next = load<u8>(end, 1);
    const isNextDigit = end + 1 < to && isDigit(next);
    if ((load<u8>(CLASSES + right) & RIGHT) === 0) return 0;
    if (right === MINUS && isNextDigit) return UNSURE;
    const near = start > from ? load<u8>(start - 1) : SPACE;
    if (right === MINUS && next !== SPACE && next !== MINUS) return near === DOT ? UNSURE : 0;
    // Part of a path or an address.
    if (right === SLASH && (near === SLASH || near === DOT)) return 0;
    if (right === COLON && next === SLASH && end + 1 < to) return 0;
    if (right === COMMA && near === COMMA) return UNSURE;
    if (right === 43 && !isNextDigit) return 0;
    if (right === 46 && end + 1 < to && next !== SPACE) return 0;
  }
  look = lookOf(start, end, from, to);
  return look === 0 ? 0 : rank;
}

/** Whether one or two digits and a colon are here: `debug 1:`, as BIND writes it. */
function isNumbered(at: u32): bool {
  if (!isDigit(load<u8>(at))) return false;
  return load<u8>(at, 1) === COLON || (isDigit(load<u8>(at, 1)) && load<u8>(at, 2) === COLON);
}

/** What surrounds a word and how it is written; 0 if a level is never written so. */
function lookOf(start: u32, end: u32, from: u32, to: u32): u64 {
  const near = start > from ? load<u8>(start - 1) : SPACE;
  if (hasLevelKey(start, from)) return (107 * 128 + 101) * 128 + 121;
  let left = start - 1;
  while (left > from && load<u8>(left) === SPACE && start - left < 4) left--;
  const open = left >= from ? load<u8>(left) : SPACE;
  const close = load<u8>(CLOSING + open);
  if (close !== 0) {
    let right = end;
    while (right < to && load<u8>(right) === SPACE && right - end < 16) right++;
    seenEnd = max(seenEnd, right + 1);
    const outer = left > from ? load<u8>(left - 1) : SPACE;
    if (right < to && load<u8>(right) === close && !isDigit(outer) && !isLetter(outer))
      return outer === EQUAL || (outer === COLON && open === QUOTE) ? 0 : <u64>open * 128 + close;
  }
  // The first word of a request: `"TRACE / HTTP/1.1"`.
  if (near === QUOTE && end < to && load<u8>(end) === SPACE) return 0;
  if (near === COLON && end < to && load<u8>(end) === CLOSE_BRACKET && isInModule(start - 2, from)) return MODULE;
  const after: u64 = blank(end < to ? load<u8>(end) : SPACE);
  if (near === EQUAL) return start === from + 1 ? <u64>EQUAL * 128 + after : 0;
  const isFirstCapital = isCapital(load<u8>(start));
  if (end - start > 2 && isFirstCapital && !isCapital(load<u8>(start, 1)))
    return ((<u64>blank(near) * 128 + 65) * 128 + 97) * 128 + after;
  const style: u64 = end - start <= 2 ? 49 : isFirstCapital ? 65 : 97;
  return (<u64>blank(near) * 128 + style) * 128 + after;
}

/** `[core:error]` of Apache is in the same column as `[error]`. */
const MODULE: u64 = 91 * 128 + 93;

function isInModule(end: u32, from: u32): bool {
  let at = end;
  while (at > from && (isLetter(load<u8>(at)) || isDigit(load<u8>(at)) || load<u8>(at) === UNDERSCORE)) at--;
  return at >= from && load<u8>(at) === OPEN_BRACKET;
}

function blank(mark: u8): u8 {
  return mark === TAB || mark > 127 ? SPACE : mark;
}

const LONGEST_KEY: u32 = 9;

/** Whether `level=`, `"level": "` or the like is in front of the word. */
function hasLevelKey(start: u32, from: u32): bool {
  let at = start - 1;
  if (at > from && (load<u8>(at) === QUOTE || load<u8>(at) === 39)) at--;
  if (at > from && load<u8>(at) === SPACE) at--;
  if (at <= from || (load<u8>(at) !== EQUAL && load<u8>(at) !== COLON)) return false;
  at--;
  if (at > from && (load<u8>(at) === QUOTE || load<u8>(at) === 39)) at--;
  const keyEnd = at + 1;
  while (at >= from && keyEnd - at <= LONGEST_KEY && (isLetter(load<u8>(at)) || load<u8>(at) === 95)) at--;
  if (keyEnd - at - 1 > LONGEST_KEY || keyEnd === at + 1) return false;
  let key: u64 = 0;
  for (let letter = at + 1; letter < keyEnd; letter++) key = (key << 5) | <u64>((load<u8>(letter) | 32) & 31);
  return isListed(LEVEL_KEYS, key);
}

/** Whether a list, terminated by 0, has the key of a word. */
function isListed(list: u32, key: u64): bool {
  for (let row = list; load<u64>(row) !== 0; row += 8) if (load<u64>(row) === key) return true;
  return false;
}

/** What is known of the letters `[start, end)`; 0 if they name no level. */
function findWord(start: u32, end: u32): u32 {
  const length = end - start;
  const lengths = <u32>load<u16>(WORD_LENGTHS + ((<u32>load<u8>(start) & 31) << 1));
  if (length > LONGEST_WORD || ((lengths >> length) & 1) === 0) return 0;
  let key: u64 = 0;
  const stop = min(end, start + KEY_LETTERS);
  for (let at = start; at < stop; at++) key = (key << 5) | <u64>(load<u8>(at) & 31);
  let row = ((<u32>key ^ (<u32>(key >> 32) * 0x85ebca6b)) * 0x9e3779b1) >> 23;
  while (true) {
    const known = load<u64>(LEVEL_WORDS + (row << 4));
    if (known === key) return load<u32>(LEVEL_WORDS + (row << 4), 8);
    if (known === 0) return 0;
    row = (row + 1) & 511;
  }
}

function closingBracket(start: u32, end: u32): u32 {
  let depth = 0;
  for (let at = start; at < end; at++) {
    const byte = load<u8>(at);
    if (byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACKET && --depth === 0) return at;
  }
  return end;
}

/** Letters of the longest level word of a column. */
const LONGEST_COLUMN: u32 = 8;

/** The rank of the word between the separator at `at` and the next tab or line end; 0 if it is not a level. */
function columnRank(at: u32, end: u32): u8 {
  const separator = load<u8>(at);
  if (at >= end || (separator !== TAB && separator !== SPACE)) return 0;
  let key: u64 = 0;
  const stop = min(at + LONGEST_COLUMN + 2, end);
  for (let next = at + 1; next < stop; next++) {
    const byte = load<u8>(next);
    if (byte === TAB) {
      const rank = key === 0 ? <u8>0 : rankOf(key);
      if (rank > 0) addKnown(at, next + 1, end, rank);
      return rank;
    }
    if (!isLetter(byte)) return 0;
    key = (key << 5) | <u64>(byte & 31);
  }
  return key === 0 ? 0 : rankOf(key);
}

/** Looks the word up in the table filled by the host: key and rank as u64 each, terminated by a key of 0. */
export function rankOf(key: u64): u8 {
  let row: u32 = COLUMN_WORDS;
  while (true) {
    const known = load<u64>(row);
    if (known === key) return <u8>load<u64>(row, 8);
    if (known === 0) return 0;
    row += 16;
  }
}

/** The level of Redis is a mark behind the time. */
function markRank(timeEnd: u32, end: u32): u8 {
  if (timeEnd + 3 > end || load<u8>(timeEnd) !== SPACE || load<u8>(timeEnd, 2) !== SPACE) return 0;
  const mark = load<u8>(timeEnd, 1);
  if (mark === 46 || mark === 45) return 2;
  return mark === 42 ? 3 : mark === 35 ? 4 : 0;
}

/** How far the severity of PostgreSQL may be from the time. */
const PREFIX_BYTES: u32 = 200;

/** The rank of PostgreSQL's severity, a word in capitals before a colon and two spaces; 0 if there is none. */
function reportRank(timeEnd: u32, end: u32): u8 {
  const limit = min(end - 2, timeEnd + PREFIX_BYTES);
  for (let at = timeEnd; at < limit; at++) {
    if (load<u8>(at) !== COLON || load<u8>(at, 1) !== SPACE || load<u8>(at, 2) !== SPACE) continue;
    let from = at;
    while (from > timeEnd && isCapital(load<u8>(from - 1))) from--;
    const left = from > timeEnd ? load<u8>(from - 1) : SPACE;
    if (left !== SPACE && left !== TAB && left !== COLON && left !== CLOSE_BRACKET) return UNSURE;
    const rank = <u8>(findWord(from, at) & RANK_BITS);
    // Those of remarks, some of which are levels elsewhere.
    const isRemark = isListed(REMARKS, wordKey(from, at));
    return isRemark ? NO_RECORD : at - from > LONGEST_WORD ? UNSURE : rank;
  }
  return 0;
}

function wordKey(start: u32, end: u32): u64 {
  let key: u64 = 0;
  if (end - start <= 12) for (let at = start; at < end; at++) key = (key << 5) | <u64>(load<u8>(at) & 31);
  return key;
}

/** A line of JSON that a syslog daemon relays says itself what its time and level are. */
const LONGEST_TAG: u32 = 128;

export function isRelayedJson(timeEnd: u32, end: u32): bool {
  const limit = min(end - 2, timeEnd + LONGEST_TAG);
  const colon = i8x16.splat(COLON);
  const space = i8x16.splat(SPACE);
  for (let at = timeEnd; at < limit; at += 16) {
    const found = v128.and(i8x16.eq(v128.load(at), colon), i8x16.eq(v128.load(at, 1), space));
    if (!v128.any_true(found)) continue;
    const first = at + <u32>ctz(i8x16.bitmask(found));
    return first < limit && load<u8>(first, 2) === OPEN_BRACE;
  }
  return false;
}

/** How far the tags of CockroachDB are followed for the counter behind them. */
const MAX_TAGS_BYTES: u32 = 1024;

/** Whether the counter of a line of CockroachDB is followed by `+` or `|`: it continues the record before it. */
export function isContinued(timeEnd: u32, end: u32): bool {
  const bracket = i8x16.splat(CLOSE_BRACKET);
  const limit = min(end, timeEnd + MAX_TAGS_BYTES);
  for (let at = timeEnd; at + 4 < limit; at += 16) {
    let bits = <u32>i8x16.bitmask(i8x16.eq(v128.load(at), bracket));
    for (; bits !== 0; bits &= bits - 1) {
      const found = at + ctz(bits);
      if (found + 4 >= limit) return false;
      if (load<u8>(found, 1) !== SPACE || !isDigit(load<u8>(found, 2))) continue;
      let after = found + 2;
      while (after < limit && isDigit(load<u8>(after))) after++;
      const mark = load<u8>(after, 1);
      return load<u8>(after) === SPACE && (mark === 43 || mark === BAR);
    }
  }
  return false;
}

/** Whether what follows the time is quoted, as requests are. */
function isQuoted(timeEnd: u32): bool {
  const at = load<u8>(timeEnd) === CLOSE_BRACKET ? timeEnd + 1 : timeEnd;
  return load<u8>(at) === SPACE && load<u8>(at, 1) === QUOTE;
}

/** The rank of the HTTP status of a line about a request; 0 if there is none. */
function statusRank(start: u32, end: u32): u8 {
  let quoteAt = start;
  while (quoteAt < end && (load<u8>(quoteAt) === CLOSE_BRACKET || load<u8>(quoteAt) === SPACE)) quoteAt++;
  if (quoteAt < end && load<u8>(quoteAt) === QUOTE) {
    const status = quotedStatus(quoteAt, end);
    if (status > 0) return rankOfStatus(status);
  }
  let before: u32 = 0;
  for (let at = start; at < end; at++) {
    const kind = load<u8>(CLASSES + load<u8>(at));
    if ((kind & (DIGIT | METHOD_START)) === 0) continue;
    if ((kind & DIGIT) !== 0) {
      const status = before === 0 ? statusAt(at, end) : 0;
      if (status > 0 && (load<u8>(at - 1) === SLASH || isBarred(at) || isBehindTimers(at, start))) before = status;
      while (isDigit(load<u8>(at, 1))) at++;
      continue;
    }
    if (!isMethodAt(at, end, start)) continue;
    if (before > 0) return rankOfStatus(before);
    const status = load<u8>(at - 1) === QUOTE ? quotedStatus(at - 1, end) : statusBehind(at, end);
    // It may be in front of the request.
    return status > 0 ? rankOfStatus(status) : UNSURE;
  }
  return 0;
}

function rankOfStatus(status: u32): u8 {
  if (status < 100 || status > 599) return 0;
  return status >= 500 ? 5 : status >= 400 ? 4 : 3;
}

/** The status that follows a quoted request; 0 if there is none. Starts at the opening quote. */
function quotedStatus(start: u32, end: u32): u32 {
  const quote = i8x16.splat(QUOTE);
  const backslash = i8x16.splat(92);
  for (let at = start + 1; at + 5 <= end; at++) {
    const bytes = v128.load(at);
    const special = v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash));
    if (!v128.any_true(special)) {
      at += 15;
      continue;
    }
    at += <u32>ctz(i8x16.bitmask(special));
    if (at + 5 > end) break;
    const byte = load<u8>(at);
    if (byte === 92) at++;
    else if (byte === QUOTE && load<u8>(at, 1) === SPACE) {
      const status = threeDigits(at + 2);
      if (status < 1000 && (at + 5 >= end || load<u8>(at, 5) === SPACE)) return status;
    }
  }
  return 0;
}

/** More than 999 if they are none. */
function threeDigits(at: u32): u32 {
  const a = <u32>load<u8>(at) - 48;
  const b = <u32>load<u8>(at, 1) - 48;
  const c = <u32>load<u8>(at, 2) - 48;
  return a <= 9 && b <= 9 && c <= 9 ? a * 100 + b * 10 + c : 1000;
}

/** Three digits from 100 to 599 that are a word; 0 if there are none. */
function statusAt(at: u32, end: u32): u32 {
  if (at + 3 > end || isDigit(load<u8>(at, 3))) return 0;
  const status = threeDigits(at);
  const after = load<u8>(at, 3);
  const isEnd = at + 3 >= end || after === SPACE || after === TAB || after === BAR || after === 44 || after === QUOTE;
  return isEnd && status >= 100 && status <= 599 ? status : 0;
}

function isBarred(at: u32): bool {
  let left = at - 1;
  while (load<u8>(left) === SPACE) left--;
  return load<u8>(left) === BAR;
}

function isBehindTimers(at: u32, start: u32): bool {
  if (load<u8>(at - 1) !== SPACE) return false;
  let slashes = 0;
  let timers = 0;
  let isTimer = false;
  for (let left = at - 2; left >= start; left--) {
    const byte = load<u8>(left);
    if (byte === SLASH) slashes++;
    else if (byte === MINUS || byte === DOT) isTimer = true;
    else if (byte === SPACE) {
      if (slashes > 0 || !isTimer) break;
      if (++timers === AMAZON_TIMERS) return true;
      isTimer = false;
    } else if (!isDigit(byte) && byte !== 43) return false;
  }
  return slashes >= 3;
}

const AMAZON_TIMERS = 3;

function isMethodAt(at: u32, end: u32, start: u32): bool {
  const before = at > start ? load<u8>(at - 1) : SPACE;
  if (before !== SPACE && before !== QUOTE && before !== TAB && before !== 91 && before !== BAR && before !== 39)
    return false;
  let key: u64 = 0;
  let to = at;
  for (; to < end && to - at < 9 && isCapital(load<u8>(to)); to++) key = (key << 5) | <u64>(load<u8>(to) & 31);
  return (load<u8>(to) === SPACE || load<u8>(to) === TAB) && isListed(METHODS, key);
}

/** The first status behind the path of a request that is not quoted. */
function statusBehind(methodAt: u32, end: u32): u32 {
  let at = nextWord(nextWord(methodAt, end), end);
  for (let words = 0; words < 4 && at < end; words++) {
    const status = statusAt(at, end);
    if (status > 0) return status;
    at = nextWord(at, end);
  }
  return 0;
}

function nextWord(start: u32, end: u32): u32 {
  let at = skipWord(start, end);
  while (at < end && (load<u8>(at) === SPACE || load<u8>(at) === TAB)) at++;
  return at;
}

function skipWord(start: u32, end: u32): u32 {
  const space = i8x16.splat(SPACE);
  const tab = i8x16.splat(TAB);
  for (let at = start; at < end; at += 16) {
    const bytes = v128.load(at);
    const ends = v128.or(i8x16.eq(bytes, space), i8x16.eq(bytes, tab));
    if (v128.any_true(ends)) return min(end, at + <u32>ctz(i8x16.bitmask(ends)));
  }
  return end;
}

/** A message of syslog may start with its level: `sshd[1]: error: ...`. */
function messageRank(timeEnd: u32, end: u32): u8 {
  let at = timeEnd;
  for (let words = 0; words < 4 && at < end; words++) {
    while (at < end && load<u8>(at) === SPACE) at++;
    const wordEnd = skipWord(at, end);
    const isTag = words > 0 || load<u8>(wordEnd - 2) === CLOSE_BRACKET;
    if (wordEnd > at && load<u8>(wordEnd - 1) === COLON && isTag) return spokenRank(wordEnd, end);
    at = wordEnd;
  }
  return 0;
}

function spokenRank(start: u32, end: u32): u8 {
  let at = start;
  while (at < end) {
    const byte = load<u8>(at);
    if (byte !== SPACE && byte !== TAB && byte !== MINUS && byte !== BAR) break;
    at++;
  }
  if (at >= end) return 0;
  const open = load<u8>(at);
  const isBracketed = open === OPEN_BRACKET || open === 60 || open === 40;
  if (isBracketed) {
    at++;
    while (at < end && (load<u8>(at) === SPACE || load<u8>(at) === TAB)) at++;
  }
  let to = at;
  while (to < end && isLetter(load<u8>(to))) to++;
  const word = to - at > LONGEST_WORD ? 0 : findWord(at, to);
  if ((word & IS_SPOKEN) === 0) return 0;
  if (isBracketed || to - at > 8) return UNSURE;
  const next = to < end ? load<u8>(to) : TAB;
  if (isDigit(next)) return UNSURE;
  if (next !== SPACE && next !== TAB && next !== COLON && next !== BAR) return 0;
  if (next !== COLON) for (let letter = at; letter < to; letter++) if (!isCapital(load<u8>(letter))) return 0;
  return <u8>(word & RANK_BITS);
}

/** Whether a line may report a crash: it has `sig` or `exc`. */
function mayReportCrash(start: u32, end: u32): bool {
  const stop = min(end, start + 512);
  for (let at = start; at < stop; at += 16) {
    const first = v128.load(at);
    const second = v128.load(at, 1);
    const third = v128.load(at, 2);
    if (v128.any_true(v128.or(hits(first, second, third, 115, 105, 103), hits(first, second, third, 101, 120, 99))))
      return true;
  }
  return false;
}

function hits(first: v128, second: v128, third: v128, a: u8, b: u8, c: u8): v128 {
  const isFirst = i8x16.eq(first, i8x16.splat(a));
  const isSecond = i8x16.eq(second, i8x16.splat(b));
  return v128.and(v128.and(isFirst, isSecond), i8x16.eq(third, i8x16.splat(c)));
}

function isCapital(byte: u8): bool {
  return <u32>byte - 65 <= 25;
}
