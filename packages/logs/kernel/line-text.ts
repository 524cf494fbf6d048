/*
 * Renders merged records, lines of JSON as a node writes them, as the text of a log, in AssemblyScript: `npm run kernel`
 * compiles it to src/kernel/line-text-wasm.ts, which src/kernel/line-text-kernel.ts loads. Nothing is allocated here.
 */
import { COLUMNS, COLUMNS_BYTES, SHARED_END } from './lines/layout';
import { putContractLine } from './lines/put-contract-line';
import { putByte, putText, setOutput, textEnd } from './lines/put-text';
import { readCount, startLine } from './lines/read-json';
import {
  BYTES,
  behind,
  behindCount,
  CURSOR,
  FAILED,
  MAX_CURSOR_BYTES,
  MAX_FILE_BYTES,
  MESSAGE,
  OFFSET,
  plainEnd,
  RAW,
  readColumns,
  TIME,
} from './lines/read-record';

const NEWLINE: u8 = 10;
const ZERO: u8 = 48;
const COLON: u8 = 58;

/** The numbers of the texts that only merged records have. */
const NODE: u32 = 14; // {"node":"
const AT: u32 = 15; // ,"atMs":
const UNSURE: u32 = 16; // ,"isUnsure":true
const FILE: u32 = 17; // ,"type":"record","file":"

/** What is written of each record. 0: its text in the file, 1: the same behind its node, 2: a line in the format of the contract. */
const NODE_AND_TEXT: u32 = 1;

/** Memory layout, read by the host, behind what the kernels of lines share. */
export { TEXT_BYTES, TEXTS } from './lines/layout';
/** For each line, where its parts are: counted from the start of the lines. */
export const MAX_LINES: u32 = 4096;
export const LINE_ENDS: u32 = SHARED_END;
export const NODE_ENDS: u32 = LINE_ENDS + MAX_LINES * 4;
export const FILES: u32 = NODE_ENDS + MAX_LINES * 4;
export const FILE_ENDS: u32 = FILES + MAX_LINES * 4;
/** Where its text ends, counted from the start of the output. */
export const OUTPUT_ENDS: u32 = FILE_ENDS + MAX_LINES * 4;
/** Whether it has the node and the file of the line before it. */
export const SAME_FILES: u32 = OUTPUT_ENDS + MAX_LINES * 4;
export const OFFSETS: u32 = SAME_FILES + MAX_LINES * 4;
/** `NaN` if a record has no time. */
export const TIMES: u32 = OFFSETS + MAX_LINES * 8;
export const LINES: u32 = TIMES + MAX_LINES * 8;
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
    const next = renderLine(at, count, layout);
    if (next === FAILED || next > end) break;
    store<u32>(LINE_ENDS + (count << 2), next - LINES);
    store<u32>(OUTPUT_ENDS + (count << 2), textEnd() - OUTPUT);
    at = next;
    count++;
  }
  return count;
}

const NODE_START: u32 = 9;

/** The position behind the line and its newline. */
function renderLine(start: u32, index: u32, layout: u32): u32 {
  startLine();
  for (let at: u32 = 0; at < COLUMNS_BYTES; at += 16) v128.store(COLUMNS + at, i8x16.splat(0));
  const nodeEnd = behind(NODE, start) === FAILED ? FAILED : plainEnd(start + NODE_START, MAX_FILE_BYTES);
  if (nodeEnd === FAILED) return FAILED;
  let at = readTime(AT, nodeEnd + 1, TIMES + (index << 3));
  if (at === FAILED) return FAILED;
  const unsure = behind(UNSURE, at);
  const file = behind(FILE, unsure === FAILED ? at : unsure);
  const fileEnd = file === FAILED ? FAILED : plainEnd(file, MAX_FILE_BYTES);
  if (fileEnd === FAILED) return FAILED;
  store<u32>(NODE_ENDS + (index << 2), nodeEnd - LINES);
  store<u32>(FILES + (index << 2), file - LINES);
  store<u32>(FILE_ENDS + (index << 2), fileEnd - LINES);
  at = readNumber(behind(OFFSET, fileEnd), OFFSETS + (index << 3));
  at = at === FAILED ? FAILED : behindCount(behind(BYTES, at));
  at = at === FAILED ? FAILED : behind(CURSOR, at);
  at = at === FAILED ? FAILED : plainEnd(at, MAX_CURSOR_BYTES);
  at = at === FAILED ? FAILED : skipTime(at + 1);
  const end = at === FAILED ? FAILED : readColumns(start, at);
  if (end === FAILED || !put(start, index, layout)) return FAILED;
  store<u32>(SAME_FILES + (index << 2), isSameFile(start, index) ? 1 : 0);
  return end;
}

function put(start: u32, index: u32, layout: u32): bool {
  const nodeEnd = LINES + load<u32>(NODE_ENDS + (index << 2));
  if (layout > NODE_AND_TEXT) {
    const file = LINES + load<u32>(FILES + (index << 2));
    const fileEnd = LINES + load<u32>(FILE_ENDS + (index << 2));
    return putContractLine(load<f64>(TIMES + (index << 3)), start + NODE_START, nodeEnd, file, fileEnd);
  }
  if (layout === NODE_AND_TEXT) {
    if (!putText(start + NODE_START, nodeEnd)) return false;
    putByte(COLON);
  }
  const kind = load<u32>(COLUMNS + (RAW << 3)) === 0 ? MESSAGE : RAW;
  const text = load<u32>(COLUMNS + (kind << 3));
  // Without its quotes.
  if (!putText(text + 1, load<u32>(COLUMNS + (kind << 3), 4) - 1)) return false;
  putByte(NEWLINE);
  return true;
}

/** The time of a merged record, which may be missing; the position behind it. */
function readTime(text: u32, start: u32, target: u32): u32 {
  const from = behind(text, start);
  if (from === FAILED) {
    store<f64>(target, NaN);
    return start;
  }
  return readNumber(from, target);
}

function readNumber(from: u32, target: u32): u32 {
  const end = behindCount(from);
  if (end === FAILED) return FAILED;
  let value: u64 = 0;
  for (let at = from; at < end; at++) value = value * 10 + (load<u8>(at) - ZERO);
  store<f64>(target, <f64>value);
  return end;
}

function skipTime(start: u32): u32 {
  const from = behind(TIME, start);
  return from === FAILED ? start : readCount(from);
}

function isSameFile(start: u32, index: u32): bool {
  if (index === 0) return false;
  const last = index - 1;
  const lastStart = index === 1 ? LINES : LINES + load<u32>(LINE_ENDS + ((index - 2) << 2));
  return (
    isSame(start, LINES + load<u32>(NODE_ENDS + (index << 2)), lastStart, LINES + load<u32>(NODE_ENDS + (last << 2))) &&
    isSame(
      LINES + load<u32>(FILES + (index << 2)),
      LINES + load<u32>(FILE_ENDS + (index << 2)),
      LINES + load<u32>(FILES + (last << 2)),
      LINES + load<u32>(FILE_ENDS + (last << 2)),
    )
  );
}

function isSame(start: u32, end: u32, otherStart: u32, otherEnd: u32): bool {
  if (end - start !== otherEnd - otherStart) return false;
  for (let at = start, other = otherStart; at < end; at++, other++) if (load<u8>(at) !== load<u8>(other)) return false;
  return true;
}
