/* Reads a record as nodes write it. Part of ../lines.ts and ../line-text.ts. */
import { FAILED } from './bytes';
import { COLUMNS, TEXT_BYTES, TEXTS } from './layout';
import {
  hasEscapes,
  hasOnlyValidText,
  isLevel,
  readCount,
  readFields,
  readString,
  readTags,
  readValue,
} from './read-json';

const NEWLINE: u8 = 10;
const ZERO: u8 = 48;
const QUOTE: u8 = 34;
const OPEN_BRACE: u8 = 123;
const CLOSE_BRACE: u8 = 125;

/** The numbers of the texts. The first ones are in this order, the others may be missing. */
export const RECORD_START: u32 = 0; // {"type":"record","file":"
export const OFFSET: u32 = 1; // ","offset":
export const BYTES: u32 = 2; // ,"bytes":
export const CURSOR: u32 = 3; // ,"cursor":"
export const TIME: u32 = 4; // ,"timeMs":
export const LEVEL: u32 = 5; // ,"level":"
export const SOURCE: u32 = 6; // ,"source":
export const TAGS: u32 = 7; // ,"tags":
export const MESSAGE: u32 = 8; // ,"message":
export const CONTEXT: u32 = 9; // ,"context":
export const CUT: u32 = 10; // ,"cut":true
const CONTINUED: u32 = 11; // ,"continued":true
export const RAW: u32 = 12; // ,"raw":
const FIELDS: u32 = 13; // ,"fields":
const KINDS: u32 = 14;

/** As a file name and a cursor may be. */
export const MAX_FILE_BYTES: u32 = 255;
export const MAX_CURSOR_BYTES: u32 = 2048;

/** Deeper contexts are left to the host. */
const MAX_DEPTH: u32 = 32;

/** The end of a string without escapes, which is not empty. */
export function plainEnd(start: u32, most: u32): u32 {
  const after = readString(start - 1);
  if (after === FAILED || after - 1 - start > most || after - 1 === start) return FAILED;
  return hasEscapes() ? FAILED : after - 1;
}

export function behindCount(at: u32): u32 {
  return at === FAILED ? FAILED : readCount(at);
}

/** What may be missing, but for the message, up to the end of the line. Its values are in COLUMNS. */
export function readColumns(start: u32, from: u32): u32 {
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
    store<u32>(COLUMNS + (kind << 3), value);
    store<u32>(COLUMNS + (kind << 3), at, 4);
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
export function behind(text: u32, at: u32): u32 {
  if (at === FAILED) return FAILED;
  const row = TEXTS + text * TEXT_BYTES;
  // Most texts that are not here differ in their first characters already.
  if (load<u32>(row) !== load<u32>(at)) return FAILED;
  const first = v128.and(v128.xor(v128.load(row), v128.load(at)), v128.load(row + 32));
  if (v128.any_true(first)) return FAILED;
  const length = <u32>load<u8>(row + 31);
  if (length <= 16) return at + length;
  const second = v128.and(v128.xor(v128.load(row + 16), v128.load(at + 16)), v128.load(row + 48));
  return v128.any_true(second) ? FAILED : at + length;
}

/** The number that these digits are. */
export function numberIn(from: u32, end: u32): f64 {
  let value: u64 = 0;
  for (let at = from; at < end; at++) value = value * 10 + (load<u8>(at) - ZERO);
  return <f64>value;
}
