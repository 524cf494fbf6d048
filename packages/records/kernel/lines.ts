/*
 * Recognizes lines of JSON that are records as nodes write them, and makes them lines of a merge, in AssemblyScript:
 * `npm run kernel` compiles it to src/kernel/lines-wasm.ts, which src/kernel/line-kernel.ts loads. Nothing is allocated
 * here.
 */
import { FAILED } from './lines/bytes';
import { SHARED_END } from './lines/layout';
import { putByte, putBytes, setOutput, textEnd } from './lines/put-text';
import { readCount, startLine } from './lines/read-json';
import {
  BYTES,
  behind,
  behindCount,
  CURSOR,
  MAX_CURSOR_BYTES,
  MAX_FILE_BYTES,
  numberIn,
  OFFSET,
  plainEnd,
  RECORD_START,
  readColumns,
  TIME,
} from './lines/read-record';

const ZERO: u8 = 48;

/** Memory layout, read by the host, behind what the kernels of lines share. */
export { TEXT_BYTES, TEXTS } from './lines/layout';
/** For each line, where its parts are: counted from the start of the text. */
export const MAX_LINES: u32 = 8192;
export const LINE_ENDS: u32 = SHARED_END;
export const FILE_ENDS: u32 = LINE_ENDS + MAX_LINES * 4;
/** Where the record is in its file. */
export const OFFSETS: u32 = FILE_ENDS + MAX_LINES * 4;
/** `NaN` if a record has no time. */
export const TIMES: u32 = OFFSETS + MAX_LINES * 8;
export const LINES: u32 = TIMES + MAX_LINES * 8;
export const LINES_BYTES: u32 = 262144;
/** What merged lines start with, up to their time; the first digits of a time are written behind it. */
export const START: u32 = LINES + LINES_BYTES + 128;
export const START_BYTES: u32 = 512;
export const OUTPUT: u32 = START + START_BYTES + 64;
export const OUTPUT_BYTES: u32 = 2 * LINES_BYTES;
export const MEMORY_BYTES: u32 = OUTPUT + OUTPUT_BYTES + 128;

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
  const offset = behind(OFFSET, at);
  at = behindCount(offset);
  if (at === FAILED) return FAILED;
  store<f64>(OFFSETS + (index << 3), numberIn(offset, at));
  at = behindCount(behind(BYTES, at));
  at = at === FAILED ? FAILED : behind(CURSOR, at);
  at = at === FAILED ? FAILED : plainEnd(at, MAX_CURSOR_BYTES);
  if (at === FAILED) return FAILED;
  at = readTime(at + 1, index);
  return at === FAILED ? FAILED : readColumns(start, at);
}

function readTime(start: u32, index: u32): u32 {
  const from = behind(TIME, start);
  store<f64>(TIMES + (index << 3), NaN);
  if (from === FAILED) return start;
  const end = readCount(from);
  if (end === FAILED || load<u8>(end) === 46) return FAILED;
  store<f64>(TIMES + (index << 3), numberIn(from, end));
  return end;
}

const COMMA: u8 = 44;

/** Times are written in two parts: the first is the same for many records in a row. */
const LAST_DIGITS: u32 = 5;
const LAST_UNIT: u64 = 100000;

/** Bounds of a time that has both parts, the first of which has 32 bits. */
const MIN_TIME: f64 = 100000;
const MAX_TIME: f64 = 4e14;

/**
 * Writes lines that were recognized as lines of a merge: the start, the time by another clock, and what follows their
 * brace. Ends at a line without a time, or with one that is not simply digits. How many lines were written; their ends
 * are counted from `base`.
 */
export function mergeLines(count: u32, base: u32, startLength: u32, offsetMs: f64): u32 {
  setOutput(OUTPUT);
  let line = LINES;
  let high: u64 = 0;
  let headLength: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    const atMs = load<f64>(TIMES + (index << 3)) - offsetMs;
    if (!(atMs >= MIN_TIME && atMs < MAX_TIME) || floor(atMs) !== atMs) return index;
    const time = <u64>atMs;
    const first = time / LAST_UNIT;
    if (first !== high) {
      high = first;
      headLength = startLength + putDigits(START + startLength, high, countDigits(high));
    }
    const next = LINES + load<u32>(LINE_ENDS + (index << 2)) - base;
    const length = next - line - 1;
    if (textEnd() + headLength + LAST_DIGITS + 1 + length > OUTPUT + OUTPUT_BYTES) return index;
    putBytes(START, headLength);
    setOutput(textEnd() + putDigits(textEnd(), time - high * LAST_UNIT, LAST_DIGITS));
    putByte(COMMA);
    putBytes(line + 1, length);
    line = next;
  }
  return count;
}

/** What the last call has written. */
export function mergedBytes(): u32 {
  return textEnd() - OUTPUT;
}

function countDigits(value: u64): u32 {
  let digits: u32 = 1;
  for (let power: u64 = 10; power <= value; power *= 10) digits++;
  return digits;
}

function putDigits(target: u32, value: u64, digits: u32): u32 {
  let rest = <u32>value;
  for (let at = target + digits - 1; at >= target; at--) {
    store<u8>(at, ZERO + <u8>(rest % 10));
    rest /= 10;
  }
  return digits;
}
