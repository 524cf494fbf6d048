/*
 * Renders merged records, lines of JSON as a node writes them, as the text of a log, in AssemblyScript: `npm run kernel`
 * compiles it to src/kernel/line-text-wasm.ts, which src/kernel/line-text-kernel.ts loads. Nothing is allocated here.
 */
import { FAILED } from './lines/bytes';
import { COLUMNS, COLUMNS_BYTES, SHARED_END } from './lines/layout';
import { putNativeLine } from './lines/put-native-line';
import { putByte, putText, setOutput, textEnd } from './lines/put-text';
import { readCount, startLine } from './lines/read-json';
import {
  BYTES,
  behind,
  behindCount,
  CURSOR,
  MAX_CURSOR_BYTES,
  MAX_FILE_BYTES,
  MESSAGE,
  numberIn,
  OFFSET,
  plainEnd,
  RAW,
  readColumns,
  TIME,
} from './lines/read-record';

const NEWLINE: u8 = 10;
const COLON: u8 = 58;

/** The numbers of the texts that only merged records have. */
const NODE: u32 = 14; // {"node":"
const AT: u32 = 15; // ,"atMs":
const UNSURE: u32 = 16; // ,"isUnsure":true
const FILE: u32 = 17; // ,"type":"record","file":"

/** What is written of each record. 0: its text in the file, 1: the same behind its node, 2: a line in the native format. */
const NODE_AND_TEXT: u32 = 1;

/** Memory layout, read by the host, behind what the kernels of lines share. */
export { TEXT_BYTES, TEXTS } from './lines/layout';
/** For each line, where its text ends, counted from the start of the output. */
export const MAX_LINES: u32 = 4096;
export const OUTPUT_ENDS: u32 = SHARED_END;
export const LINES: u32 = OUTPUT_ENDS + MAX_LINES * 4;
export const LINES_BYTES: u32 = 262144;
/** A line of the output is never longer than that of the input, whose names of fields alone are longer than what is added. */
export const OUTPUT: u32 = LINES + LINES_BYTES + 128;
export const MEMORY_BYTES: u32 = OUTPUT + LINES_BYTES + 128;

/**
 * How many of the lines at the start of `length` bytes are merged records as nodes write them, and could be rendered. What
 * follows the bytes must be zero.
 */
export function renderLines(length: u32, layout: u32): u32 {
  const end = LINES + length;
  setOutput(OUTPUT);
  let count: u32 = 0;
  let at = LINES;
  while (at < end && count < MAX_LINES) {
    const next = renderLine(at, layout);
    if (next === FAILED || next > end) break;
    store<u32>(OUTPUT_ENDS + (count << 2), textEnd() - OUTPUT);
    at = next;
    count++;
  }
  return count;
}

const NODE_START: u32 = 9;

/** The position behind the line and its newline. */
function renderLine(start: u32, layout: u32): u32 {
  startLine();
  for (let at: u32 = 0; at < COLUMNS_BYTES; at += 16) v128.store(COLUMNS + at, i8x16.splat(0));
  const nodeEnd = behind(NODE, start) === FAILED ? FAILED : plainEnd(start + NODE_START, MAX_FILE_BYTES);
  if (nodeEnd === FAILED) return FAILED;
  const time = behind(AT, nodeEnd + 1);
  const timeEnd = time === FAILED ? nodeEnd + 1 : behindCount(time);
  if (timeEnd === FAILED) return FAILED;
  const unsure = behind(UNSURE, timeEnd);
  const file = behind(FILE, unsure === FAILED ? timeEnd : unsure);
  const fileEnd = file === FAILED ? FAILED : plainEnd(file, MAX_FILE_BYTES);
  if (fileEnd === FAILED) return FAILED;
  let at = behindCount(behind(OFFSET, fileEnd));
  at = at === FAILED ? FAILED : behindCount(behind(BYTES, at));
  at = at === FAILED ? FAILED : behind(CURSOR, at);
  at = at === FAILED ? FAILED : plainEnd(at, MAX_CURSOR_BYTES);
  at = at === FAILED ? FAILED : skipTime(at + 1);
  const end = at === FAILED ? FAILED : readColumns(start, at);
  if (end === FAILED) return FAILED;
  if (layout > NODE_AND_TEXT) {
    const timeMs = time === FAILED ? NaN : numberIn(time, timeEnd);
    return putNativeLine(timeMs, start + NODE_START, nodeEnd, file, fileEnd) ? end : FAILED;
  }
  if (layout === NODE_AND_TEXT) {
    if (!putText(start + NODE_START, nodeEnd)) return FAILED;
    putByte(COLON);
  }
  const kind = load<u32>(COLUMNS + (RAW << 3)) === 0 ? MESSAGE : RAW;
  const text = load<u32>(COLUMNS + (kind << 3));
  // Without its quotes.
  if (!putText(text + 1, load<u32>(COLUMNS + (kind << 3), 4) - 1)) return FAILED;
  putByte(NEWLINE);
  return end;
}

function skipTime(start: u32): u32 {
  const from = behind(TIME, start);
  return from === FAILED ? start : readCount(from);
}
