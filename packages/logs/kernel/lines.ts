/*
 * Recognizes lines of JSON that are records as nodes write them, in AssemblyScript: `npm run kernel` compiles it to
 * src/kernel/lines-wasm.ts, which src/kernel/line-kernel.ts loads. Nothing is allocated here.
 */
import {
  hasOnlyValidText,
  isLevel,
  readCount,
  readFields,
  readString,
  readTags,
  readValue,
  startLine,
} from './lines/read-json';

const NEWLINE: u8 = 10;
const QUOTE: u8 = 34;
const ZERO: u8 = 48;
const BACKSLASH: u8 = 92;
const OPEN_BRACE: u8 = 123;
const CLOSE_BRACE: u8 = 125;

/**
 * Memory layout, read by the host. Texts that lines consist of: 32 bytes for each, of which the last one is its length,
 * and 32 that are 0xff where the text is.
 */
export const TEXTS: u32 = 64;
export const TEXT_BYTES: u32 = 64;
/** For each line, where its parts are: counted from the start of the text. */
export const MAX_LINES: u32 = 8192;
export const LINE_ENDS: u32 = TEXTS + 16 * TEXT_BYTES;
export const FILE_ENDS: u32 = LINE_ENDS + MAX_LINES * 4;
export const CURSORS: u32 = FILE_ENDS + MAX_LINES * 4;
export const CURSOR_ENDS: u32 = CURSORS + MAX_LINES * 4;
/** `NaN` if a record has no time. */
export const TIMES: u32 = CURSOR_ENDS + MAX_LINES * 4;
export const LINES: u32 = TIMES + MAX_LINES * 8;
export const LINES_BYTES: u32 = 262144;
export const MEMORY_BYTES: u32 = LINES + LINES_BYTES + 128;

/** The numbers of the texts. The first ones are in this order, the others may be missing. */
const RECORD_START: u32 = 0; // {"type":"record","file":"
const OFFSET: u32 = 1; // ","offset":
const BYTES: u32 = 2; // ,"bytes":
const CURSOR: u32 = 3; // ,"cursor":"
const TIME: u32 = 4; // ,"timeMs":
const LEVEL: u32 = 5; // ,"level":"
const SOURCE: u32 = 6; // ,"source":
const TAGS: u32 = 7; // ,"tags":
const MESSAGE: u32 = 8; // ,"message":
const CONTEXT: u32 = 9; // ,"context":
const CUT: u32 = 10; // ,"cut":true
const CONTINUED: u32 = 11; // ,"continued":true
const RAW: u32 = 12; // ,"raw":
const FIELDS: u32 = 13; // ,"fields":
const KINDS: u32 = 14;

/** As a file name and a cursor may be. */
const MAX_FILE_BYTES: u32 = 255;
const MAX_CURSOR_BYTES: u32 = 2048;

/** Deeper contexts are left to the host. */
const MAX_DEPTH: u32 = 32;

/** Instead of a position. */
const FAILED: u32 = 0;

/**
 * How many of the lines at the start of `length` bytes are records as nodes write them: every field known, valid and in
 * its place, none twice, no white space. What follows the bytes must be zero.
 */
export function scanLines(length: u32, most: u32): u32 {
  const end = LINES + length;
  const limit = min(most, MAX_LINES);
  let count: u32 = 0;
  let at = LINES;
  while (at < end && count < limit) {
    const next = readLine(at, count);
    if (next === FAILED || next > end) break;
    store<u32>(LINE_ENDS + (count << 2), next - LINES);
    at = next;
    count++;
  }
  return count;
}

/** The position behind the line and its newline. */
function readLine(start: u32, index: u32): u32 {
  startLine();
  let at = behind(RECORD_START, start);
  if (at === FAILED) return FAILED;
  at = plainEnd(at, MAX_FILE_BYTES);
  if (at === FAILED) return FAILED;
  store<u32>(FILE_ENDS + (index << 2), at - LINES);
  at = behindCount(behind(OFFSET, at));
  at = at === FAILED ? FAILED : behindCount(behind(BYTES, at));
  at = at === FAILED ? FAILED : behind(CURSOR, at);
  if (at === FAILED) return FAILED;
  store<u32>(CURSORS + (index << 2), at - LINES);
  at = plainEnd(at, MAX_CURSOR_BYTES);
  if (at === FAILED) return FAILED;
  store<u32>(CURSOR_ENDS + (index << 2), at - LINES);
  at = readTime(at + 1, index);
  return at === FAILED ? FAILED : readColumns(start, at);
}

/** The end of a string without escapes, which is not empty. */
function plainEnd(start: u32, most: u32): u32 {
  const after = readString(start - 1);
  if (after === FAILED || after - 1 - start > most || after - 1 === start) return FAILED;
  for (let at = start; at < after; at++) if (load<u8>(at) === BACKSLASH) return FAILED;
  return after - 1;
}

function behindCount(at: u32): u32 {
  return at === FAILED ? FAILED : readCount(at);
}

function readTime(start: u32, index: u32): u32 {
  const from = behind(TIME, start);
  store<f64>(TIMES + (index << 3), NaN);
  if (from === FAILED) return start;
  const end = readCount(from);
  if (end === FAILED || load<u8>(end) === 46) return FAILED;
  let time: u64 = 0;
  for (let at = from; at < end; at++) time = time * 10 + (load<u8>(at) - ZERO);
  store<f64>(TIMES + (index << 3), <f64>time);
  return end;
}

/** What may be missing, but for the message. */
function readColumns(start: u32, from: u32): u32 {
  let at = from;
  let hasMessage = false;
  for (let kind = LEVEL; load<u8>(at) !== CLOSE_BRACE; kind++) {
    let value = FAILED;
    while (kind < KINDS) {
      value = behind(kind, at);
      if (value !== FAILED) break;
      kind++;
    }
    if (value === FAILED) return FAILED;
    at = readColumn(kind, value);
    if (at === FAILED) return FAILED;
    hasMessage = hasMessage || kind === MESSAGE;
  }
  if (!hasMessage || load<u8>(at + 1) !== NEWLINE || !hasOnlyValidText(start, at)) return FAILED;
  return at + 2;
}

function readColumn(kind: u32, at: u32): u32 {
  switch (kind) {
    case LEVEL:
      return isLevel(at) ? at + (load<u8>(at + 4) === QUOTE ? 5 : 6) : FAILED;
    case TAGS:
      return readTags(at);
    case CONTEXT:
      return load<u8>(at) === OPEN_BRACE ? readValue(at, MAX_DEPTH) : FAILED;
    case CUT:
    case CONTINUED:
      return at;
    case FIELDS:
      return readFields(at);
    case SOURCE:
    case MESSAGE:
    case RAW:
      return readString(at);
    default:
      return FAILED;
  }
}

/** The position behind this text. */
function behind(text: u32, at: u32): u32 {
  if (at === FAILED) return FAILED;
  const row = TEXTS + text * TEXT_BYTES;
  const first = v128.and(v128.xor(v128.load(row), v128.load(at)), v128.load(row + 32));
  if (v128.any_true(first)) return FAILED;
  const length = <u32>load<u8>(row + 31);
  if (length <= 16) return at + length;
  const second = v128.and(v128.xor(v128.load(row + 16), v128.load(at + 16)), v128.load(row + 48));
  return v128.any_true(second) ? FAILED : at + length;
}
