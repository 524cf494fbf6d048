/* Renders the columns of a record that is a JSON object on one line. Part of ../scan.ts. */

import { MEMBER_TEXT, MEMBERS, TAG_MEMBERS } from '../scan';
import { FAILED } from '../scan/json-bytes';
import { rankOf } from '../scan/levels';
import { addKey, beginCopy, behindSpace, copyString, copyValue } from './copy-json';
import { findRole, LEVEL, MESSAGE, OTHER_LEVEL, SOURCE, TAG, TAGS, TIME } from './member-role';
import { CONTEXT_COLUMN, LEVEL_COLUMN, LEVELS, MESSAGE_COLUMN, putName, SOURCE_COLUMN, TAGS_COLUMN } from './names';
import { findByte, outputAt, putByte, putBytes, putWord, setOutput } from './output';
import { noteContext, noteLevel, noteMessage, noteSource, noteTags } from './render';
import { isTimeText } from './time-text';

const NEWLINE: u8 = 10;
const CARRIAGE_RETURN: u8 = 13;
const QUOTE: u8 = 34;
const COMMA: u8 = 44;
const COLON: u8 = 58;
const BACKSLASH: u8 = 92;
const CLOSE_BRACKET: u8 = 93;
const OPEN_BRACE: u8 = 123;
const CLOSE_BRACE: u8 = 125;

const MAX_MEMBERS: u32 = 128;
const NONE: u32 = u32.MAX_VALUE;

/** A member in MEMBERS: where its key, its value and its end are in MEMBER_TEXT; a start of 0: it is a column. */
const MEMBER_BYTES: u32 = 12;

let members: u32 = 0;
let sourceMember: u32 = NONE;
let messageMember: u32 = NONE;
let messageOrder: u32 = NONE;
let hasTime: bool = false;
let hasLevel: bool = false;
let hasOtherLevel: bool = false;

/** Writes the columns of the record `[from, to)`, like `createJsonFormat`. False if it is unusual. */
export function renderJson(from: u32, to: u32, rank: u8): bool {
  let end = load<u8>(to - 1) === NEWLINE ? to - 1 : to;
  if (end > from && load<u8>(end - 1) === CARRIAGE_RETURN) end--;
  if (end <= from || load<u8>(from) !== OPEN_BRACE || findByte(from, end, NEWLINE) < end) return false;
  const output = outputAt();
  setOutput(MEMBER_TEXT);
  const isRead = readMembers(from, end);
  setOutput(output);
  if (!isRead || messageMember === NONE || (hasOtherLevel && !hasLevel)) return false;
  if (rank > 0) {
    putName(LEVEL_COLUMN);
    const written = outputAt();
    putName(LEVELS + rank);
    noteLevel(written, outputAt());
    putWord(0x2c22, 2);
  }
  if (sourceMember !== NONE) {
    putName(SOURCE_COLUMN);
    const written = outputAt();
    putString(sourceMember);
    noteSource(written, outputAt());
    putWord(0x2c22, 2);
  }
  putTags();
  putName(MESSAGE_COLUMN);
  const written = outputAt();
  putString(messageMember);
  noteMessage(written, outputAt());
  putByte(QUOTE);
  putContext();
  return true;
}

function readMembers(from: u32, end: u32): bool {
  beginCopy(end);
  members = 0;
  sourceMember = messageMember = messageOrder = NONE;
  hasTime = hasLevel = hasOtherLevel = false;
  memory.fill(TAG_MEMBERS, 255, TAGS * 4);
  let at = behindSpace(from + 1);
  // Without members there is no message.
  while (at < end && members < MAX_MEMBERS) {
    at = readMember(at, end);
    if (at === FAILED) return false;
    at = behindSpace(at);
    if (at >= end) return false;
    const next = load<u8>(at);
    if (next === CLOSE_BRACE) return behindSpace(at + 1) === end;
    if (next !== COMMA) return false;
    at = behindSpace(at + 1);
  }
  return false;
}

/** Copies a member to MEMBER_TEXT and decides whether it is a column. */
function readMember(start: u32, end: u32): u32 {
  const member = MEMBERS + members * MEMBER_BYTES;
  const key = outputAt();
  if (load<u8>(start) !== QUOTE) return FAILED;
  let at = copyString(start);
  if (at === FAILED || !addKey(key + 1, outputAt() - 1, 0)) return FAILED;
  const role = findRole(key + 1, outputAt() - 1);
  if (role < 0) return FAILED;
  at = behindSpace(at);
  if (at >= end || load<u8>(at) !== COLON) return FAILED;
  putByte(COLON);
  at = behindSpace(at + 1);
  store<u32>(member, key);
  store<u32>(member + 4, outputAt());
  if (role === TIME && !hasTime && load<u8>(at) !== QUOTE) {
    // Seconds with many digits, which need not be copied.
    at = numberText(at, end);
    if (at === FAILED) return FAILED;
    hasTime = true;
    store<u32>(member, 0);
  } else {
    at = copyValue(at);
    if (at === FAILED) return FAILED;
    store<u32>(member + 8, outputAt());
    if (role !== 0 && !takeColumn(role, member)) return FAILED;
  }
  members++;
  return at;
}

/** The position after a number that is a time. */
function numberText(start: u32, end: u32): u32 {
  let at = start;
  while (at < end && ((load<u8>(at) >= 48 && load<u8>(at) <= 57) || load<u8>(at) === 46)) at++;
  return load<u8>(start) !== 48 && isTimeText(start, at) ? at : FAILED;
}

/** Makes a member a column if it is the first one that can be. False if that cannot be decided here. */
function takeColumn(role: i32, member: u32): bool {
  const value = load<u32>(member + 4);
  const end = load<u32>(member + 8);
  const isString = load<u8>(value) === QUOTE;
  if (role === OTHER_LEVEL) hasOtherLevel = true;
  else if (role === TIME && !hasTime) {
    if (!isString || !isTimeText(value + 1, end - 1)) return false;
    hasTime = true;
    store<u32>(member, 0);
  } else if (role === LEVEL && !hasLevel) {
    if (!isLevelText(value, end)) return false;
    hasLevel = true;
    store<u32>(member, 0);
  } else if (role === SOURCE && sourceMember === NONE) {
    if (load<u8>(value) === OPEN_BRACE) return false;
    if (isString && isSource(value + 1, end - 1)) {
      sourceMember = member;
      store<u32>(member, 0);
    }
  } else if (role >= TAG) {
    const tag = TAG_MEMBERS + ((<u32>(role - TAG)) << 2);
    if (load<u32>(tag) !== NONE || !isString || end - value === 2) return true;
    store<u32>(tag, member);
    store<u32>(member, 0);
  } else if (role >= MESSAGE) return takeMessage(<u32>role, member, isString);
  return true;
}

/** The message is the first string with the name that comes first in the list of names. */
function takeMessage(order: u32, member: u32, isString: bool): bool {
  if (!isString || order >= messageOrder) return true;
  const value = load<u32>(member + 4);
  const end = load<u32>(member + 8);
  // A line break at its end is not shown.
  if (end - value >= 4 && load<u8>(end - 2) === 110 && load<u8>(end - 3) === BACKSLASH) return false;
  messageMember = member;
  messageOrder = order;
  return true;
}

/** A word in quotes, or a number from 10 to 69. */
function isLevelText(value: u32, end: u32): bool {
  const isString = load<u8>(value) === QUOTE;
  const start = isString ? value + 1 : value;
  const length = (isString ? end - 1 : end) - start;
  if (length === 2) {
    const tens = load<u8>(start);
    const ones = load<u8>(start + 1);
    return tens >= 49 && tens <= 54 && ones >= 48 && ones <= 57;
  }
  if (!isString || length < 3 || length > 8) return false;
  let key: u64 = 0;
  for (let at = start; at < start + length; at++) {
    const letter = (load<u8>(at) | 32) - 96;
    if (letter < 1 || letter > 26) return false;
    key = (key << 5) | <u64>letter;
  }
  return rankOf(key) > 0;
}

/** Whether a text ends in `:digits`. */
function isSource(start: u32, end: u32): bool {
  let at = end;
  while (at > start && load<u8>(at - 1) >= 48 && load<u8>(at - 1) <= 57) at--;
  return at < end && at > start && load<u8>(at - 1) === COLON;
}

/** The value of a member, without its quotes. */
function putString(member: u32): void {
  const value = load<u32>(member + 4);
  putBytes(value + 1, load<u32>(member + 8) - value - 2);
}

function putTags(): void {
  let count: u32 = 0;
  let written: u32 = 0;
  for (let tag: u32 = 0; tag < TAGS; tag++) {
    const member = load<u32>(TAG_MEMBERS + (tag << 2));
    if (member === NONE) continue;
    if (count++ === 0) {
      putName(TAGS_COLUMN);
      written = outputAt() - 2;
    } else putWord(0x222c, 2);
    putString(member);
    putByte(QUOTE);
  }
  if (count === 0) return;
  putByte(CLOSE_BRACKET);
  noteTags(written, outputAt());
  putByte(COMMA);
}

/** All members that are no columns. */
function putContext(): void {
  store<u32>(messageMember, 0);
  let written: u32 = 0;
  for (let index: u32 = 0; index < members; index++) {
    const member = MEMBERS + index * MEMBER_BYTES;
    const start = load<u32>(member);
    if (start === 0) continue;
    if (written === 0) {
      putName(CONTEXT_COLUMN);
      written = outputAt();
      putByte(OPEN_BRACE);
    } else putByte(COMMA);
    putBytes(start, load<u32>(member + 8) - start);
  }
  if (written === 0) return;
  putByte(CLOSE_BRACE);
  noteContext(written, outputAt());
}
