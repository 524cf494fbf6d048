/* Renders records as lines of JSON, straight from the text they are in. Part of ../scan.ts. */

import {
  CURSOR_HEAD,
  CURSOR_TAIL,
  LINE_START,
  OUTPUT,
  RENDERED_ENDS,
  SPAN_ENDS,
  SPAN_RANKS,
  SPAN_STARTS,
  SPAN_TIMES,
  TEXT,
} from '../scan';
import { isUtf8 } from '../scan/json-bytes';
import { renderContract } from './contract';
import { renderFields } from './fields';
import { renderJson } from './json';
import { BYTES, MESSAGE_COLUMN, putName, RAW_COLUMN, TIME_MS } from './names';
import { outputAt, putByte, putBytes, putEscaped, putNumber, putWord, setOutput } from './output';

const NEWLINE: u8 = 10;
const CARRIAGE_RETURN: u8 = 13;
const QUOTE: u8 = 34;

/** Longer records are left to the host, so that the output has room for any other one. */
const MAX_RECORD: u32 = 16384;

/** No record is begun beyond this. */
const FULL_BYTES: u32 = 262144;

/** A run of so many newlines was a hole. */
const HOLE_BYTES: u32 = 256;

/** Bytes at the start of a record that are verified when a cursor is used. */
const CHECK_BYTES: u32 = 64;

const JSON_FORMAT: u32 = 1;

/** What is requested besides the columns. */
const ALL_FIELDS: u32 = 1;
const RAW: u32 = 2;
/** Instead of the columns: the message is empty, and there are no others. */
const ONLY_RAW: u32 = 4;

let lineStartBytes: u32 = 0;
let cursorHeadBytes: u32 = 0;
let cursorTailBytes: u32 = 0;
let mostBytes: u32 = 0;
let format: u32 = 0;
let extras: u32 = 0;

/** The columns that were rendered, as they are in the output, without quotes. Empty: there is none. */
export let levelAt: u32 = 0;
export let levelEnd: u32 = 0;
export let sourceAt: u32 = 0;
export let sourceEnd: u32 = 0;
/** With its brackets, or braces. */
export let tagsAt: u32 = 0;
export let tagsEnd: u32 = 0;
export let messageAt: u32 = 0;
export let messageEnd: u32 = 0;
export let contextAt: u32 = 0;
export let contextEnd: u32 = 0;

/** How lines are rendered: the lengths of what they have in common, which is in LINE_START, CURSOR_HEAD, CURSOR_TAIL. */
export function setLines(
  start: u32,
  cursorHead: u32,
  cursorTail: u32,
  most: u32,
  formatKind: u32,
  extraKinds: u32,
): void {
  lineStartBytes = start;
  cursorHeadBytes = cursorHead;
  cursorTailBytes = cursorTail;
  mostBytes = min(most, MAX_RECORD);
  format = formatKind;
  extras = extraKinds;
}

/**
 * Renders the records `[from, to)` of SPAN_STARTS and the other tables, from the start of OUTPUT on, until one is
 * unusual, or the output is full. `base` is the offset of the text in the file. Their ends are left in RENDERED_ENDS.
 * Returns the first record that was not rendered.
 */
export function render(from: u32, to: u32, base: f64): u32 {
  setOutput(OUTPUT);
  for (let index = from; index < to; index++) {
    const before = outputAt();
    if (before - OUTPUT > FULL_BYTES) return index;
    const start = load<u32>(SPAN_STARTS + (index << 2));
    const end = load<u32>(SPAN_ENDS + (index << 2));
    if (end - start > mostBytes || !renderRecord(index, start, end, <u64>(base + <f64>start))) {
      setOutput(before);
      return index;
    }
    store<u32>(RENDERED_ENDS + ((index - from) << 2), outputAt() - OUTPUT);
  }
  return to;
}

function renderRecord(index: u32, start: u32, end: u32, offset: u64): bool {
  const from = TEXT + start;
  const to = TEXT + end;
  if (hasHole(from, to) || !isUtf8(from, to)) return false;
  putBytes(LINE_START, lineStartBytes);
  putNumber(offset, 10);
  putName(BYTES);
  putNumber(end - start, 10);
  putCursor(from, min(end - start, CHECK_BYTES), offset);
  const time = load<f64>(SPAN_TIMES + (index << 3));
  if (time > -Infinity) putTime(time);
  const rank = load<u8>(SPAN_RANKS + index);
  if (!renderColumns(from, to, rank)) return false;
  if (extras & RAW) putRaw(from, to);
  if (extras & ALL_FIELDS && !renderFields()) return false;
  putWord(0x0a7d, 2); // }\n
  return true;
}

function renderColumns(from: u32, to: u32, rank: u8): bool {
  if (extras & ONLY_RAW) {
    putName(MESSAGE_COLUMN);
    putByte(QUOTE);
    return true;
  }
  forget();
  return format === JSON_FORMAT ? renderJson(from, to, rank) : renderContract(from, to, rank);
}

/** The text itself, without its line break. */
function putRaw(from: u32, to: u32): void {
  let end = to;
  if (end > from && load<u8>(end - 1) === NEWLINE) end--;
  if (end < to && end > from && load<u8>(end - 1) === CARRIAGE_RETURN) end--;
  putName(RAW_COLUMN);
  putEscaped(from, end);
  putByte(QUOTE);
}

/** What a crash leaves of a file behind a record was read as newlines; it is not shown. */
function hasHole(from: u32, to: u32): bool {
  return to - from > HOLE_BYTES && load<u8>(to - 1) === NEWLINE && load<u8>(to - HOLE_BYTES) === NEWLINE;
}

function putCursor(from: u32, length: u32, offset: u64): void {
  let check: u32 = 0x811c9dc5;
  for (let at = from; at < from + length; at++) check = (check ^ load<u8>(at)) * 0x01000193;
  // Bound to the offset: see `tied` in src/cursor/cursor.ts.
  check ^= (<u32>offset * 0x9e3779b1) ^ (<u32>(offset >> 32) * 0x85ebca6b);
  putBytes(CURSOR_HEAD, cursorHeadBytes);
  putNumber(offset, 36);
  putByte(46);
  putNumber(check, 36);
  putByte(46);
  putNumber(length, 36);
  putBytes(CURSOR_TAIL, cursorTailBytes);
}

function putTime(time: f64): void {
  putName(TIME_MS);
  if (time < 0) putByte(45);
  putNumber(<u64>abs(time), 10);
  putByte(44);
}

function forget(): void {
  levelAt = levelEnd = sourceAt = sourceEnd = tagsAt = tagsEnd = 0;
  messageAt = messageEnd = contextAt = contextEnd = 0;
}

export function noteLevel(at: u32, end: u32): void {
  levelAt = at;
  levelEnd = end;
}

export function noteSource(at: u32, end: u32): void {
  sourceAt = at;
  sourceEnd = end;
}

export function noteTags(at: u32, end: u32): void {
  tagsAt = at;
  tagsEnd = end;
}

export function noteMessage(at: u32, end: u32): void {
  messageAt = at;
  messageEnd = end;
}

export function noteContext(at: u32, end: u32): void {
  contextAt = at;
  contextEnd = end;
}
