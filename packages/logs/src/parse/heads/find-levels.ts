import {
  COLON,
  closingBracket,
  isCapital,
  isDigit,
  isLetter,
  OPEN_BRACKET,
  SPACE,
  skipLetters,
  startsWith,
  TAB,
} from '../formats/tokens/byte-scan.ts';
import { findLevelWord, keyedRank, LONGEST_WORD, letterRank, severityRank } from '../level.ts';

/** A word, or a letter, that may be the level of a line, and what it looks like. One object is reused. */
export interface LevelCandidate {
  /** Negative for a letter that stands for something else: in its column, no letter is a level. */
  rank: number;
  /** Whether messages have this word as often as levels are named so. */
  isAmbiguous: boolean;
  /** How it is written, and between what, as `packLook` has it: candidates of the same look are one column. */
  look: number;
  /** Words between the time, or the start of the line, and this one. */
  index: number;
  /** If it is one. */
  letter: string;
}

/** Levels are searched for in this much of a line on either side of the time. */
const SEARCHED_BYTES = 320;
const MOST_WORDS = 24;

/** What may be in front of a level and behind it. */
export const LEFT = byteTable(' \t[(<{|:,="\'./;*#-!)]>');
export const RIGHT = byteTable(' \t])>}|:,;"\'!/-+[(.*');

function byteTable(marks: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const mark of marks) table[mark.charCodeAt(0)] = 1;
  return table;
}

/** For a mark that opens, the one that closes; 0 for others. */
export const CLOSING = new Uint8Array(256);
for (const [open = '', close = ''] of ['[]', '()', '<>', '{}', '||', '""', "''", '**'])
  CLOSING[open.charCodeAt(0)] = close.charCodeAt(0);

export const LEVEL_KEYS: ReadonlySet<string> = new Set(
  'level lvl severity sev loglevel log_level prio priority pri l levelname'.split(' '),
);

/**
 * A look is a short text as one number, which costs no string for each word: `<` or `>` for before or behind the time,
 * then `key`, the brackets around a word, or the mark before it, `A`, `Aa`, `a`, `1` or `2` (a capital or a small letter
 * alone) for how it is written, and the mark behind it.
 */
export function packLook(text: string): number {
  let look = 0;
  for (const character of text) look = look * 128 + character.charCodeAt(0);
  return look;
}

export function unpackLook(look: number): string {
  return look === 0 ? '' : unpackLook(Math.floor(look / 128)) + String.fromCharCode(look % 128);
}

const KEY = packLook('key');

/**
 * Calls `visit` for each candidate in `[from, to)`, in order, until it returns true. `lineStart` and `lineEnd` bound
 * what is read around them.
 */
export function findLevels(
  bytes: Buffer,
  from: number,
  to: number,
  side: 'before' | 'after',
  candidate: LevelCandidate,
  visit: (candidate: LevelCandidate) => boolean,
  mostWords = MOST_WORDS,
): boolean {
  const limit = Math.min(to, from + SEARCHED_BYTES);
  let index = 0;
  let inWord = false;
  let bracketEnd = 0;
  for (let at = from; at < limit && index < mostWords; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === SPACE || byte === TAB) {
      if (inWord && at >= bracketEnd) {
        index++;
        inWord = false;
      }
      continue;
    }
    if (!inWord && SEPARATORS[byte] === 1) continue;
    if (!inWord) {
      inWord = true;
      if (byte === OPEN_BRACKET) bracketEnd = closingBracket(bytes, at, limit);
    }
    if (!isLetter(byte)) continue;
    const before = at > from ? (bytes[at - 1] ?? 0) : SPACE;
    // `LOG_ERR`, as the severities of syslog are called in C.
    const wordAt = byte === 76 && startsWith(bytes, at, limit, LOG_PREFIX) ? at + LOG_PREFIX.length : at;
    const wordEnd = skipLetters(bytes, wordAt, limit);
    const isWord = (at === from || LEFT[before] === 1) && wordEnd > wordAt && wordEnd - wordAt <= LONGEST_WORD;
    // `AUTH-ERROR:` behind the time is no level, and neither is `"-ERR `.
    const isPart = before === 45 && side === 'after' && at - 2 >= from && JOINED[bytes[at - 2] ?? 0] === 1;
    if (isWord && !isPart && readCandidate(bytes, at, wordAt, wordEnd, from, to, candidate)) {
      candidate.look += side === 'before' ? BEFORE * sizeOf(candidate.look) : AFTER * sizeOf(candidate.look);
      candidate.index = index;
      if (visit(candidate)) return true;
    }
    at = wordEnd - 1;
  }
  return false;
}

/** What joins a word with the one behind a dash. */
const JOINED = byteTable('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"');

const LOG_PREFIX = 'LOG_';
const BEFORE = 60;
const AFTER = 62;

/** Dashes and bars between columns are no words, and neither is what closes the brackets around a time. */
export const SEPARATORS = byteTable('-|:,;])>"\'');

function readCandidate(
  bytes: Buffer,
  columnAt: number,
  start: number,
  wordEnd: number,
  from: number,
  to: number,
  candidate: LevelCandidate,
): boolean {
  let end = wordEnd;
  const isLetterAlone = end - start === 1;
  candidate.letter = isLetterAlone ? String.fromCharCode(bytes[start] ?? 0) : '';
  if (isLetterAlone) {
    candidate.rank = isCapital(bytes[start]) ? letterRank(bytes[start]) || -1 : smallLetterRank(bytes, start, from, to);
    // `T:1234` is a key and its value.
    if (bytes[end] === COLON && isDigit(bytes[end + 1]) && end + 1 < to) return false;
    // Messages have letters in brackets, too: `<T>`.
    candidate.isAmbiguous = true;
    // MongoDB writes debug levels as D1 to D5.
    if (end < to && isDigit(bytes[end]) && bytes[start] === 68 && (bytes[end] ?? 0) <= 53) end++;
  } else {
    const word = findLevelWord(bytes, start, end);
    candidate.rank =
      word?.rank ?? (hasLevelKey(bytes, start, from) ? keyedRank(bytes.toString('latin1', start, end)) : 0);
    candidate.isAmbiguous = word?.isAmbiguous ?? false;
    // `debug 1:`, as BIND writes it.
    if (candidate.rank === 2 && bytes[end] === SPACE && isDigit(bytes[end + 1]) && end + 2 < to)
      end = bytes[end + 2] === COLON ? end + 2 : bytes[end + 3] === COLON && isDigit(bytes[end + 2]) ? end + 3 : end;
    if (candidate.rank === 6 && startsWith(bytes, end, to, ' error')) end += ERROR_BYTES;
    if (word && end < to && isDigit(bytes[end])) {
      // DEBUG1 to DEBUG5 of PostgreSQL, trace1 to trace8 of Apache; LOG0 to LOG7 of stunnel are severities of syslog.
      const digit = (bytes[end] ?? 48) - 48;
      if (digit > 8 || (word.rank > 2 && !isLogDigit(bytes, start, end, digit))) return false;
      if (word.rank > 2) candidate.rank = severityRank(digit);
      candidate.isAmbiguous = false;
      end++;
    }
  }
  if (candidate.rank === 0 || (end < to && RIGHT[bytes[end] ?? 0] !== 1)) return false;
  const right = end < to ? (bytes[end] ?? 0) : SPACE;
  // slog writes levels between its own as DEBUG-4 and INFO+2; `].INF-` is a level, `info-page` is not.
  const isJoined = !(isDigit(bytes[end + 1]) && end + 1 < to) && bytes[end + 1] !== SPACE && bytes[end + 1] !== 45;
  if (right === 45 && isJoined && !(isCapital(bytes[start + 1]) && bytes[start - 1] === 46 && start > from))
    return false;
  if (right === 43 && !(isDigit(bytes[end + 1]) && end + 1 < to)) return false;
  if (right === 46 && end + 1 < to && bytes[end + 1] !== SPACE) return false;
  // Part of a path or an address.
  if (right === 47 && start > from && (bytes[start - 1] === 47 || bytes[start - 1] === 46)) return false;
  if (right === COLON && bytes[end + 1] === 47 && end + 1 < to) return false;
  if (start > from && bytes[start - 1] === COMMA) end = joinLevels(bytes, end, to, candidate);
  candidate.look = lookOf(bytes, columnAt, end, from, to);
  if (candidate.look === 0) return false;
  if (right === 45 && isDigit(bytes[end + 1]) && candidate.rank === 2)
    candidate.rank = (bytes[end + 1] ?? 0) >= 52 ? 1 : 2;
  return true;
}

/**
 * SAP writes levels as small letters between spaces, right behind the time; CUPS starts lines with `d` for less important
 * ones than `D`.
 */
function smallLetterRank(bytes: Buffer, start: number, from: number, to: number): number {
  if (start === from) return bytes[start] === 100 ? 2 : 0;
  const isFirst = start === from + 1 && bytes[from] === SPACE && bytes[start + 1] === SPACE && start + 1 < to;
  return isFirst ? letterRank((bytes[start] ?? 0) & ~0x20) || -1 : 0;
}

/** `Fatal error: `, as PHP writes it. */
const ERROR_BYTES = ' error'.length;

const COMMA = 44;

/** Routers of MikroTik list topics, and more than one of them may be a level: `system,error,critical`. */
function joinLevels(bytes: Buffer, end: number, to: number, candidate: LevelCandidate): number {
  let at = end;
  while (at < to && bytes[at] === COMMA) {
    const wordEnd = skipLetters(bytes, at + 1, to);
    if (wordEnd === at + 1 || wordEnd >= to || (bytes[wordEnd] !== SPACE && bytes[wordEnd] !== COMMA)) return end;
    candidate.rank = Math.max(candidate.rank, findLevelWord(bytes, at + 1, wordEnd)?.rank ?? 0);
    at = wordEnd;
  }
  return bytes[at] === SPACE ? at : end;
}

function isLogDigit(bytes: Buffer, start: number, end: number, digit: number): boolean {
  return end - start === 3 && digit <= 7 && ((bytes[start] ?? 0) | 32) === 108;
}

/** What surrounds a word and how it is written; 0 if a level is never written so. */
function lookOf(bytes: Buffer, start: number, end: number, from: number, to: number): number {
  const near = start > from ? (bytes[start - 1] ?? SPACE) : SPACE;
  if (hasLevelKey(bytes, start, from)) return KEY;
  let left = start - 1;
  while (left > from && bytes[left] === SPACE && start - left < 4) left--;
  const open = left >= from ? (bytes[left] ?? SPACE) : SPACE;
  if (CLOSING[open] !== 0) {
    let right = end;
    while (right < to && bytes[right] === SPACE && right - end < 16) right++;
    const outer = left > from ? (bytes[left - 1] ?? SPACE) : SPACE;
    if (right < to && bytes[right] === CLOSING[open] && !isDigit(outer) && !isLetter(outer))
      return outer === 61 || (outer === COLON && open === 34) ? 0 : open * 128 + (CLOSING[open] ?? 0);
  }
  // The first word of a request: `"TRACE / HTTP/1.1"`.
  if (near === 34 && bytes[end] === SPACE && end < to) return 0;
  if (near === COLON && bytes[end] === 93 && end < to && isInModule(bytes, start - 2, from)) return MODULE;
  const after = blank(end < to ? (bytes[end] ?? SPACE) : SPACE);
  // `=INFO REPORT====` of Erlang; `state=error` is no level.
  if (near === 61) return start === from + 1 ? 61 * 128 + after : 0;
  if (end - start > 2 && isCapital(bytes[start]) && !isCapital(bytes[start + 1]))
    return ((blank(near) * 128 + 65) * 128 + 97) * 128 + after;
  const isLetterAlone = end - start <= 2;
  const isSmallAlone = isLetterAlone && start > from && !isCapital(bytes[start]);
  const style = isSmallAlone ? 50 : isLetterAlone ? 49 : isCapital(bytes[start]) ? 65 : 97;
  return (blank(near) * 128 + style) * 128 + after;
}

/** `[core:error]` of Apache is in the same column as `[error]`. */
const MODULE = packLook('[]');

function isInModule(bytes: Buffer, end: number, from: number): boolean {
  let at = end;
  while (at > from && (isLetter(bytes[at]) || isDigit(bytes[at]) || bytes[at] === 95)) at--;
  return at >= from && bytes[at] === OPEN_BRACKET;
}

/** By what a mark in front of the look is multiplied. */
function sizeOf(look: number): number {
  return look < 16_384 ? 16_384 : look < 2_097_152 ? 2_097_152 : 268_435_456;
}

function blank(mark: number): number {
  return mark === TAB || mark > 127 ? SPACE : mark;
}

const LONGEST_KEY = 9;

/** Whether `level=`, `"level": "` or the like is in front of the word. */
function hasLevelKey(bytes: Buffer, start: number, from: number): boolean {
  let at = start - 1;
  if (at > from && (bytes[at] === 34 || bytes[at] === 39)) at--;
  if (at > from && bytes[at] === SPACE) at--;
  if (at <= from || (bytes[at] !== 61 && bytes[at] !== COLON)) return false;
  at--;
  if (at > from && (bytes[at] === 34 || bytes[at] === 39)) at--;
  const keyEnd = at + 1;
  while (at >= from && keyEnd - at <= LONGEST_KEY && (isLetter(bytes[at]) || bytes[at] === 95)) at--;
  if (keyEnd - at - 1 > LONGEST_KEY || keyEnd === at + 1) return false;
  return LEVEL_KEYS.has(bytes.toString('latin1', at + 1, keyEnd).toLowerCase());
}
