/* Renders the columns of a record in the contract's format. Part of ../scan.ts. */
import { FAILED, isDigit } from '../scan/json-bytes';
import { beginCopy, copyObject } from './copy-json';
import { CONTEXT_COLUMN, LEVEL_COLUMN, LEVELS, MESSAGE_COLUMN, putName, SOURCE_COLUMN, TAGS_COLUMN } from './names';
import { findByte, outputAt, putByte, putEscaped, putWord } from './output';
import { noteContext, noteLevel, noteMessage, noteSource, noteTags } from './render';

const TAB: u8 = 9;
const NEWLINE: u8 = 10;
const CARRIAGE_RETURN: u8 = 13;
const SPACE: u8 = 32;
const QUOTE: u8 = 34;
const COMMA: u8 = 44;
const COLON: u8 = 58;
const OPEN_BRACKET: u8 = 91;
const CLOSE_BRACKET: u8 = 93;
const OPEN_BRACE: u8 = 123;
const CLOSE_BRACE: u8 = 125;

/** The date and the time of day, to the second. */
const TIME_BYTES: u32 = 19;

/**
 * Writes the columns behind the time of the record `[from, to)`, like `findColumns` and `decodeRecord`. False if it is
 * unusual. It starts with a time, and has a level if it has a rank.
 */
export function renderContract(from: u32, to: u32, rank: u8): bool {
  const newline = findByte(from, to, NEWLINE);
  const end = lineEnd(from, newline);
  let at = behindTime(from, end);
  if (at === FAILED) return false;
  if (rank > 0) {
    at = findByte(at, end, TAB);
    if (at >= end) return false;
    at++;
    putName(LEVEL_COLUMN);
    const written = outputAt();
    putName(LEVELS + rank);
    noteLevel(written, outputAt());
    putWord(0x2c22, 2);
  }
  at = putSource(at, end);
  const json = contextStart(at, end);
  const bodyEnd = json === FAILED ? end : max(at, json - 1);
  at = putTags(at, bodyEnd);
  if (!putMessage(at, bodyEnd, newline, to, json !== FAILED)) return false;
  return json === FAILED || putContext(json, end);
}

/** The end of the line without its line break, which is at `newline`. */
function lineEnd(from: u32, newline: u32): u32 {
  return newline > from && load<u8>(newline - 1) === CARRIAGE_RETURN ? newline - 1 : newline;
}

/** The position behind the time and the separator after it. */
function behindTime(line: u32, end: u32): u32 {
  let at = line + TIME_BYTES;
  if (at >= end) return FAILED;
  const mark = load<u8>(at);
  if (mark === 46 || mark === 44) {
    const digits = at + 1;
    let stop = digits;
    while (stop < end && isDigit(load<u8>(stop))) stop++;
    if (stop > digits) at = stop;
  }
  if (at >= end || (load<u8>(at) !== TAB && load<u8>(at) !== SPACE)) return FAILED;
  return at + 1;
}

/** A column without spaces that ends in `:digits`, but not the last one; returns the position behind it. */
function putSource(start: u32, end: u32): u32 {
  const tab = i8x16.splat(TAB);
  const space = i8x16.splat(SPACE);
  let at = start;
  for (; at < end; at += 16) {
    const bytes = v128.load(at);
    const ends = v128.or(i8x16.eq(bytes, tab), i8x16.eq(bytes, space));
    if (!v128.any_true(ends)) continue;
    at += <u32>ctz(i8x16.bitmask(ends));
    break;
  }
  if (at >= end || at <= start || load<u8>(at) !== TAB) return start;
  let colon = at - 1;
  while (colon > start && isDigit(load<u8>(colon))) colon--;
  if (colon === at - 1 || colon === start || load<u8>(colon) !== COLON) return start;
  putName(SOURCE_COLUMN);
  const written = outputAt();
  putEscaped(start, at);
  noteSource(written, outputAt());
  putWord(0x2c22, 2);
  return at + 1;
}

/** Where the last column starts, if it is in braces. */
function contextStart(start: u32, end: u32): u32 {
  if (end < start + 2 || load<u8>(end - 1) !== CLOSE_BRACE) return FAILED;
  let from = end;
  const tab = i8x16.splat(TAB);
  while (from >= start + 16) {
    const bits = i8x16.bitmask(i8x16.eq(v128.load(from - 16), tab));
    if (bits !== 0) {
      from = from - 16 + 32 - clz(bits);
      return load<u8>(from) === OPEN_BRACE ? from : FAILED;
    }
    from -= 16;
  }
  while (from > start && load<u8>(from - 1) !== TAB) from--;
  return load<u8>(from) === OPEN_BRACE ? from : FAILED;
}

/** One or more `[...]` with single spaces between them, then a colon; returns the position behind it. */
function putTags(start: u32, end: u32): u32 {
  let at = start;
  let close: u32 = 0;
  while (at < end && load<u8>(at) === OPEN_BRACKET) {
    at = findByte(at, end, CLOSE_BRACKET) + 1;
    if (at >= end) return start;
    if (load<u8>(at) === COLON) {
      close = at;
      break;
    }
    if (load<u8>(at) === SPACE) at++;
  }
  if (close === 0) return start;
  putName(TAGS_COLUMN);
  const written = outputAt() - 2;
  at = start + 1;
  while (true) {
    const tagEnd = findByte(at, close, CLOSE_BRACKET);
    putEscaped(at, tagEnd);
    putByte(QUOTE);
    if (tagEnd + 1 >= close) break;
    putByte(COMMA);
    putByte(QUOTE);
    at = tagEnd + (load<u8>(tagEnd + 1) === SPACE ? 3 : 2);
  }
  putByte(CLOSE_BRACKET);
  noteTags(written, outputAt());
  putByte(COMMA);
  return min(load<u8>(close + 1) === SPACE ? close + 2 : close + 1, end);
}

/** The rest of the first line, and the lines below it. */
function putMessage(start: u32, end: u32, newline: u32, to: u32, hasContext: bool): bool {
  putName(MESSAGE_COLUMN);
  const written = outputAt();
  putEscaped(start, end);
  if (newline + 1 < to) {
    const last = load<u8>(to - 1) === NEWLINE ? to - 1 : to;
    // A line break of two bytes is shown as one, and the last line may end with a context.
    if (findByte(newline + 1, to, CARRIAGE_RETURN) < to) return false;
    if (!hasContext && last > newline + 1 && load<u8>(last - 1) === CLOSE_BRACE) return false;
    putEscaped(newline, last);
  }
  noteMessage(written, outputAt());
  putByte(QUOTE);
  return true;
}

function putContext(from: u32, end: u32): bool {
  putName(CONTEXT_COLUMN);
  const written = outputAt();
  beginCopy(end);
  if (copyObject(from) !== end) return false;
  noteContext(written, outputAt());
  return true;
}
