/*
 * Makes rows of the archive from lines of a search, in AssemblyScript: `npm run kernel` compiles it to
 * src/kernel/rows-wasm.ts, which src/ship/row-kernel.ts loads. Nothing is allocated here. The rows are those of
 * src/ship/row-writer.ts, byte for byte.
 */

import { outputAt, setOutput } from './rows/output';
import { hasTime, isRead, offset, readLine, recordBytes, timeMs } from './rows/read-line';
import { writeRow } from './rows/write-row';

const NEWLINE: u8 = 10;
/** `{"type":"record"` and `{"type":"end"` differ here. */
const KIND_AT: u32 = 9;
const LETTER_R: u8 = 114;

/** Memory layout, read by the host. Numbers of both, 8 bytes each. */
export const NUMBERS: u32 = 64;
/** Words of rows: 32 bytes for each, of which the last one is its length. */
export const WORDS: u32 = NUMBERS + 32 * 8;
/** Numbers are made from their ends. */
export const DIGITS: u32 = WORDS + 16 * 32;
/** `,"day":"2026-11-16","time_ms":` */
export const DAY: u32 = DIGITS + 64;
/** What lines and rows of the file begin with. */
export const LINE_START: u32 = DAY + 64;
export const LINE_START_BYTES: u32 = 4096;
export const ROW_START: u32 = LINE_START + LINE_START_BYTES + 64;
export const ROW_START_BYTES: u32 = 32768;
export const LINES: u32 = ROW_START + ROW_START_BYTES + 64;
export const LINES_BYTES: u32 = 524288;
/** Rows; how many bytes is up to the host. */
export const ROWS: u32 = LINES + LINES_BYTES + 128;
export const MEMORY_BYTES: u32 = ROWS + 128;

/** The numbers, by their places. */
export const END: u32 = 0;
export const LAST_OFFSET: u32 = 1;
export const BEFORE_MS: u32 = 2;
export const CARRIED_MS: u32 = 3;
export const TO_MS: u32 = 4;
export const READ_BYTES: u32 = 5;
/** Of the next line: 0, it follows another one of its file; 1, it is the first; 2, and the file has a cursor. */
export const FIRST: u32 = 6;
export const DAY_FROM_MS: u32 = 7;
export const DAY_TO_MS: u32 = 8;
/** The time whose day is needed. */
export const NEEDED_MS: u32 = 9;
/** Of this call: how many lines and rows, where the lines of the last two rows start. */
export const LINE_COUNT: u32 = 10;
export const ROW_COUNT: u32 = 11;
export const LAST_LINE: u32 = 12;
export const LINE_BEFORE: u32 = 13;
/** Of the last line: whether it has a row, and what is undone with it. */
export const HAS_LAST: u32 = 14;
export const UNDO_LENGTH: u32 = 15;
export const UNDO_END: u32 = 16;
export const UNDO_LAST_OFFSET: u32 = 17;
export const UNDO_BEFORE_MS: u32 = 18;
/** Why it stopped, and where rows end. */
export const STOP: u32 = 19;
export const LENGTH: u32 = 20;
/** By how much times went back at most, and how many records have none. */
export const DISORDER_MS: u32 = 21;
export const UNTIMED: u32 = 22;
export const UNDO_UNTIMED: u32 = 23;

const NO_MORE_LINES: u32 = 0;
const NO_RECORD: u32 = 1;
const FULL: u32 = 2;
const OTHER_FILE: u32 = 3;
const OTHER_DAY: u32 = 4;
/** The host makes this row. */
const UNUSUAL: u32 = 5;

let lineStartBytes: u32 = 0;

export function setFile(lineStart: u32, rowStart: u32, day: u32): void {
  lineStartBytes = lineStart;
  store<u32>(ROW_START - 4, rowStart);
  store<u32>(DAY - 4, day);
}

export function number(place: u32): f64 {
  return load<f64>(NUMBERS + (place << 3));
}

export function setNumber(place: u32, value: f64): void {
  store<f64>(NUMBERS + (place << 3), value);
}

/**
 * Appends rows of the lines in `[start, end)` of LINES, all of which are whole, to the `length` bytes of ROWS. Returns
 * where it stopped; STOP says why. No row is begun beyond `maxLength`, and not more than `maxRows` are made.
 */
export function makeRows(start: u32, end: u32, length: u32, maxLength: u32, maxRows: u32): u32 {
  setOutput(ROWS + length);
  setNumber(LINE_COUNT, 0);
  setNumber(ROW_COUNT, 0);
  setNumber(LAST_LINE, -1);
  setNumber(LINE_BEFORE, -1);
  let rows: u32 = 0;
  let stop = NO_MORE_LINES;
  let at = LINES + start;
  const to = LINES + end;
  while (at < to) {
    if (load<u8>(at + KIND_AT) !== LETTER_R) stop = NO_RECORD;
    else if (outputAt() - ROWS >= maxLength || rows >= maxRows) stop = FULL;
    else if (!isOfFile(at)) stop = OTHER_FILE;
    if (stop !== NO_MORE_LINES) break;
    const next = lineEnd(at, to);
    readLine(at + lineStartBytes, next);
    stop = isRead ? takeLine(at) : UNUSUAL;
    if (stop !== NO_MORE_LINES) break;
    rows = <u32>number(ROW_COUNT);
    at = next + 1;
  }
  setNumber(STOP, stop);
  setNumber(LENGTH, outputAt() - ROWS);
  return at - LINES;
}

/** Makes the row of the line that was read, unless it has been shipped. */
function takeLine(at: u32): u32 {
  const end = offset + recordBytes;
  const first = number(FIRST);
  const isContinuation = first === 2 && <f64>offset === number(LAST_OFFSET);
  const carriedMs = first === 0 ? number(CARRIED_MS) : isContinuation ? number(BEFORE_MS) : 0;
  if (<f64>end > number(END)) {
    const time = hasTime ? <f64>timeMs : carriedMs;
    if (!(time >= number(DAY_FROM_MS) && time < number(DAY_TO_MS))) {
      setNumber(NEEDED_MS, time);
      return OTHER_DAY;
    }
    const before = outputAt();
    if (!writeRow(carriedMs)) {
      setOutput(before);
      return UNUSUAL;
    }
    noteRow(at, before, <f64>end, carriedMs);
  } else setNumber(HAS_LAST, 0);
  setNumber(FIRST, 0);
  setNumber(CARRIED_MS, hasTime ? <f64>timeMs : carriedMs);
  setNumber(LINE_COUNT, number(LINE_COUNT) + 1);
  return NO_MORE_LINES;
}

function noteRow(at: u32, before: u32, end: f64, carriedMs: f64): void {
  const known = number(END);
  setNumber(HAS_LAST, 1);
  setNumber(UNDO_LENGTH, before - ROWS);
  setNumber(UNDO_END, known);
  setNumber(UNDO_LAST_OFFSET, number(LAST_OFFSET));
  setNumber(UNDO_BEFORE_MS, number(BEFORE_MS));
  setNumber(UNDO_UNTIMED, number(UNTIMED));
  setNumber(LINE_BEFORE, number(LAST_LINE));
  setNumber(LAST_LINE, at - LINES);
  setNumber(READ_BYTES, number(READ_BYTES) + end - max(<f64>offset, known));
  setNumber(END, end);
  setNumber(LAST_OFFSET, <f64>offset);
  setNumber(BEFORE_MS, carriedMs);
  setNumber(ROW_COUNT, number(ROW_COUNT) + 1);
  if (hasTime) noteTime(<f64>timeMs);
  else setNumber(UNTIMED, number(UNTIMED) + 1);
}

function noteTime(time: f64): void {
  const newest = number(TO_MS);
  if (!(newest >= time)) setNumber(TO_MS, time);
  else if (newest - time > number(DISORDER_MS)) setNumber(DISORDER_MS, newest - time);
}

function isOfFile(at: u32): bool {
  for (let index: u32 = 0; index < lineStartBytes; index += 16) {
    const hits = i8x16.eq(v128.load(at + index), v128.load(LINE_START + index));
    const equal = <u32>ctz(~i8x16.bitmask(hits));
    if (equal < 16 && index + equal < lineStartBytes) return false;
  }
  return lineStartBytes > 0;
}

function lineEnd(from: u32, to: u32): u32 {
  const wanted = i8x16.splat(NEWLINE);
  for (let at = from; at < to; at += 16) {
    const hits = i8x16.eq(v128.load(at), wanted);
    if (v128.any_true(hits)) return at + <u32>ctz(i8x16.bitmask(hits));
  }
  return to;
}
