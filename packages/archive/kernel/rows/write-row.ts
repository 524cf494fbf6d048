/* Writes the row of the line that was read. Part of ../rows.ts. */
import { DAY, ROW_START } from '../rows';
import { findBackslash, outputAt, putBytes, putJson, putNumber, putQuoted, putWord } from './output';
import {
  bytesAt,
  bytesEnd,
  check,
  columnsAt,
  columnsEnd,
  contextAt,
  contextEnd,
  hasTime,
  isContinued,
  isCut,
  messageAt,
  messageEnd,
  offsetAt,
  offsetEnd,
  rawAt,
  rawEnd,
  timeAt,
  timeEnd,
} from './read-line';

/** By their places in the table of the host. */
const BYTES: u32 = 0;
const CHECK: u32 = 1;
const TIME: u32 = 2;
const NO_TIME: u32 = 3;
const LINE: u32 = 4;
const CONTEXT: u32 = 5;
const MESSAGE_TEXT: u32 = 6;
const MESSAGE_AT: u32 = 7;
const MESSAGE_TAIL: u32 = 8;
const CUT: u32 = 9;
const CONTINUED: u32 = 10;
const END: u32 = 11;

const LETTER_U: u8 = 117;

/** Instead of a position: there is none, or it takes too long to find out. */
const NONE: u32 = 0;
const TOO_LONG: u32 = 1;

/** `false` if the host has to write it. */
export function writeRow(carriedMs: f64): bool {
  putBytes(ROW_START, ROW_START + load<u32>(ROW_START - 4));
  putBytes(offsetAt, offsetEnd);
  putWord(BYTES);
  putBytes(bytesAt, bytesEnd);
  putWord(CHECK);
  putNumber(<i64>check);
  putBytes(DAY, DAY + load<u32>(DAY - 4));
  if (hasTime) putBytes(timeAt, timeEnd);
  else putNumber(<i64>carriedMs);
  putWord(hasTime ? TIME : NO_TIME);
  putJson(columnsAt, columnsEnd);
  putWord(LINE);
  putBytes(rawAt, rawEnd);
  let escapedContext: u32 = 0;
  if (contextEnd > 0) {
    putWord(CONTEXT);
    const from = outputAt();
    putQuoted(contextAt, contextEnd);
    escapedContext = outputAt() - from - 1;
  }
  if (!putMessage(escapedContext)) return false;
  if (isCut) putWord(CUT);
  if (isContinued) putWord(CONTINUED);
  putWord(END);
  return true;
}

/** Where the message is in the text; itself where it is no part of it. */
function putMessage(escapedContext: u32): bool {
  const length = messageEnd - messageAt - 2;
  const at = findMessage(length, escapedContext);
  if (at === TOO_LONG) return false;
  const head = at === NONE ? -1 : plainBytes(rawAt + 1, at);
  if (head < 0) {
    putWord(MESSAGE_TEXT);
    putJson(messageAt, messageEnd);
    return true;
  }
  const tail = plainBytes(at + length, rawEnd - 1);
  if (head > 0) {
    putWord(MESSAGE_AT);
    putNumber(head);
  }
  if (tail > 0) {
    putWord(MESSAGE_TAIL);
    putNumber(tail);
  }
  return true;
}

function findMessage(length: u32, escapedContext: u32): u32 {
  if (length === 0) return rawEnd - 1;
  // Mostly it is the end of the text, or what precedes a tab and the context.
  const behind = escapedContext > 0 ? escapedContext + 2 : 0;
  const rawLength = rawEnd - 2 - rawAt;
  if (length > rawLength) return NONE;
  const needle = messageAt + 1;
  if (behind + length <= rawLength) {
    const at = rawEnd - 1 - behind - length;
    if (equalBytes(needle, at, length) === length) return at;
  }
  return findLast(needle, length);
}

/** Where the text has the message last. */
function findLast(needle: u32, length: u32): u32 {
  const from = rawAt + 1;
  const first = i8x16.splat(load<u8>(needle));
  const last = i8x16.splat(load<u8>(needle + length - 1));
  // Of texts that repeat themselves, each position may be compared with all of the message.
  let budget: u32 = 4 * (rawEnd - rawAt) + 4096;
  let to = rawEnd - length;
  while (to > from) {
    const start = to - from >= 16 ? to - 16 : from;
    const hits = v128.and(i8x16.eq(v128.load(start), first), i8x16.eq(v128.load(start + length - 1), last));
    let mask = <u32>i8x16.bitmask(hits) & ((1 << (to - start)) - 1);
    while (mask !== 0) {
      const bit = 31 - clz(mask);
      const equal = equalBytes(needle, start + bit, length);
      if (equal === length) return start + bit;
      if (equal > budget) return TOO_LONG;
      budget -= equal;
      mask ^= 1 << bit;
    }
    to = start;
  }
  return NONE;
}

/** How many of the first bytes are the same. */
function equalBytes(a: u32, b: u32, length: u32): u32 {
  for (let at: u32 = 0; at < length; at += 16) {
    const hits = i8x16.eq(v128.load(a + at), v128.load(b + at));
    const equal = <u32>ctz(~i8x16.bitmask(hits));
    if (equal < 16) return min(length, at + equal);
  }
  return length;
}

/** Bytes of UTF-8 that an escaped text stands for; -1 if it ends in the middle of an escape. */
function plainBytes(from: u32, to: u32): i32 {
  let bytes: i32 = 0;
  let at = from;
  while (at < to) {
    const backslash = findBackslash(at, to);
    bytes += backslash - at;
    at = backslash;
    if (at >= to) break;
    at += load<u8>(at + 1) === LETTER_U ? 6 : 2;
    bytes++;
  }
  return at === to ? bytes : -1;
}
