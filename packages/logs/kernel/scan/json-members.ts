/* Finds members of a JSON object by their names, without parsing it. Part of ../scan.ts. */

import { MAX_NAMED_MEMBERS, NAMED_MEMBERS, PATH, TEXT } from '../scan';
import { FAILED } from './json-bytes';
import {
  begin,
  behindSpace,
  hasEscape,
  lineEnd,
  OFF,
  readString,
  readValue,
  skipSpace,
  stop,
  trimmedEnd,
} from './json-path';
import { dropValues, keepShape, matchShape, wantLastValue } from './json-shapes';

const QUOTE: u8 = 34;
const COMMA: u8 = 44;
const COLON: u8 = 58;
const OPEN_BRACE: u8 = 123;
const CLOSE_BRACE: u8 = 125;
const OPEN_BRACKET: u8 = 91;

/** What the value of a member is. */
const PLAIN_TEXT: u32 = 0;
const ESCAPED_TEXT: u32 = 1;
const OBJECT: u32 = 2;
const OTHER: u32 = 3;

/**
 * Finds the members of the object in the line `[from, to)`, which may have a line break, whose names are in PATH: each
 * after its length, terminated by a zero, in lower case; those of the text may be in any. `lengths` has a bit for each
 * length. Returns how many there are. In NAMED_MEMBERS are, in the order of the text, where the value of each is,
 * and what it is: a text is without its quotes. Negative: the line is no object, or unusual, or there are
 * several lines.
 */
export function jsonMembers(from: u32, to: u32, lengths: u32): i32 {
  const known = matchShape(from, trimmedEnd(from, to), false);
  if (known >= 0) return known;
  const end = lineEnd(from, to);
  if (end < 0 || from >= <u32>end || load<u8>(TEXT + from) !== OPEN_BRACE) return -1;
  begin(end, 0);
  let members: u32 = 0;
  let at = behindSpace(TEXT + from + 1);
  if (load<u8>(at) === CLOSE_BRACE) return skipSpace(at + 1) === stop ? 0 : -1;
  // Single bytes may be read beyond the end: what then ends there does not end at `stop`.
  while (at < stop) {
    if (load<u8>(at) !== QUOTE) return -1;
    const keyEnd = readString(at);
    // A name may be written with escapes.
    if (keyEnd === FAILED || hasEscape) return -1;
    const isNamed = isWanted(at + 1, keyEnd - 1, lengths);
    at = behindSpace(keyEnd);
    if (load<u8>(at) !== COLON) return -1;
    const value = behindSpace(at + 1);
    at = readValue(value, OFF);
    if (at === FAILED) return -1;
    if (isNamed) {
      if (members === MAX_NAMED_MEMBERS) return -1;
      note(members++, value, at);
    }
    at = behindSpace(at);
    const next = load<u8>(at);
    if (next === CLOSE_BRACE) {
      if (skipSpace(at + 1) !== stop) return -1;
      keepShape(from, end);
      return <i32>members;
    }
    if (next !== COMMA) return -1;
    at = behindSpace(at + 1);
  }
  return -1;
}

/** Whether the name `[start, end)` is one of those wanted. */
function isWanted(start: u32, end: u32, lengths: u32): bool {
  const length = end - start;
  if (length > 31 || ((lengths >> length) & 1) === 0) return false;
  let wanted = PATH;
  let wantedLength = <u32>load<u8>(wanted);
  while (wantedLength !== 0) {
    if (wantedLength === length && isName(start, wanted + 1, length)) return true;
    wanted += wantedLength + 1;
    wantedLength = <u32>load<u8>(wanted);
  }
  return false;
}

function isName(start: u32, wanted: u32, length: u32): bool {
  for (let at: u32 = 0; at < length; at++) {
    const byte = load<u8>(start + at);
    const lower = byte >= 65 && byte <= 90 ? byte | 0x20 : byte;
    if (lower !== load<u8>(wanted + at)) return false;
  }
  return true;
}

function note(member: u32, start: u32, end: u32): void {
  const first = load<u8>(start);
  const isText = first === QUOTE;
  if (first === OPEN_BRACE || first === OPEN_BRACKET) dropValues();
  else wantLastValue();
  const to = NAMED_MEMBERS + member * 12;
  store<u32>(to, start - TEXT + (isText ? 1 : 0));
  store<u32>(to + 4, end - TEXT - (isText ? 1 : 0));
  store<u32>(to + 8, isText ? (hasEscape ? ESCAPED_TEXT : PLAIN_TEXT) : first === OPEN_BRACE ? OBJECT : OTHER);
}
