/*
 * Recognizes lines of JSON that are records as nodes write them, in AssemblyScript: `npm run kernel` compiles it to
 * src/kernel/lines-wasm.ts, which src/kernel/line-kernel.ts loads. Nothing is allocated here.
 */
import { SHARED_END } from './lines/layout';
import { readCount, startLine } from './lines/read-json';
import {
  BYTES,
  behind,
  behindCount,
  CURSOR,
  FAILED,
  MAX_CURSOR_BYTES,
  MAX_FILE_BYTES,
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
export const CURSORS: u32 = FILE_ENDS + MAX_LINES * 4;
export const CURSOR_ENDS: u32 = CURSORS + MAX_LINES * 4;
/** `NaN` if a record has no time. */
export const TIMES: u32 = CURSOR_ENDS + MAX_LINES * 4;
export const LINES: u32 = TIMES + MAX_LINES * 8;
export const LINES_BYTES: u32 = 262144;
export const MEMORY_BYTES: u32 = LINES + LINES_BYTES + 128;

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
