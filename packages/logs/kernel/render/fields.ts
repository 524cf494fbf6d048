/* Renders all fields of a record, from its columns as they were rendered. Part of ../scan.ts. */

import { FIELD_PATH, MAX_FIELD_PATH } from '../scan';
import { FAILED } from '../scan/json-bytes';
import { addKey, beginCopy } from './copy-json';
import {
  COMPONENT_FIELD,
  CONTEXT_PREFIX,
  FIELDS,
  FIRST_BUILT_IN,
  isName,
  LAST_BUILT_IN,
  LEVEL_FIELD,
  MESSAGE_FIELD,
  putName,
  SOURCE_FIELD,
  startsWithName,
} from './names';
import { outputAt, putByte, putBytes, setOutput } from './output';
import {
  contextAt,
  contextEnd,
  levelAt,
  levelEnd,
  messageAt,
  messageEnd,
  sourceAt,
  sourceEnd,
  tagsAt,
  tagsEnd,
} from './render';

const QUOTE: u8 = 34;
const COMMA: u8 = 44;
const DOT: u8 = 46;
const EQUALS: u8 = 61;
const COLON: u8 = 58;
const OPEN_BRACKET: u8 = 91;
const BACKSLASH: u8 = 92;
const CLOSE_BRACKET: u8 = 93;
const OPEN_BRACE: u8 = 123;
const CLOSE_BRACE: u8 = 125;

/** Elements of the array that is being read. */
let elements: u32 = 0;

/**
 * Writes `fields`: the columns, and the leaves of the context by their paths. False if a message may have pairs, a path
 * has several values that are not elements of one array, or the order is not that of the record.
 */
export function renderFields(): bool {
  for (let at = messageAt; at < messageEnd; at++) if (load<u8>(at) === EQUALS) return false;
  putName(FIELDS);
  if (levelEnd > levelAt) {
    putName(LEVEL_FIELD);
    putBytes(levelAt - 1, levelEnd - levelAt + 2);
    putByte(COMMA);
  }
  if (sourceEnd > sourceAt) {
    putName(SOURCE_FIELD);
    putBytes(sourceAt - 1, sourceEnd - sourceAt + 2);
    putByte(COMMA);
  }
  if (tagsEnd > tagsAt) {
    putName(COMPONENT_FIELD);
    const isOne = behindString(tagsAt + 1) === tagsEnd - 1;
    if (isOne) putBytes(tagsAt + 1, tagsEnd - tagsAt - 2);
    else putBytes(tagsAt, tagsEnd - tagsAt);
    putByte(COMMA);
  }
  putName(MESSAGE_FIELD);
  putBytes(messageAt - 1, messageEnd - messageAt + 2);
  beginCopy(0);
  if (contextEnd > contextAt && putMembers(contextAt, 0, true) === FAILED) return false;
  putByte(CLOSE_BRACE);
  return true;
}

/** The leaves of the object at `start`, whose path has `length` bytes; returns the position after it. */
function putMembers(start: u32, length: u32, isTop: bool): u32 {
  let at = start + 1;
  while (load<u8>(at) !== CLOSE_BRACE) {
    if (load<u8>(at) === COMMA) at++;
    const keyEnd = behindString(at);
    const added = keyEnd - at - 2 + (isTop ? 0 : 1);
    if (length + added > MAX_FIELD_PATH - 16) return FAILED;
    if (!isTop) store<u8>(FIELD_PATH + length, DOT);
    memory.copy(FIELD_PATH + length + (isTop ? 0 : 1), at + 1, keyEnd - at - 2);
    at = putLeaves(keyEnd + 1, length + added);
    if (at === FAILED) return FAILED;
  }
  return at + 1;
}

/** The leaves of the value at `at`. */
function putLeaves(at: u32, length: u32): u32 {
  const first = load<u8>(at);
  if (first === OPEN_BRACE) return putMembers(at, length, false);
  const before = outputAt();
  if (!putPath(length)) return FAILED;
  if (first !== OPEN_BRACKET) {
    const end = behindScalar(at);
    putBytes(at, end - at);
    return end;
  }
  const value = outputAt();
  putByte(OPEN_BRACKET);
  elements = 0;
  const end = putElements(at);
  if (end === FAILED) return FAILED;
  if (elements === 0) setOutput(before);
  else if (elements === 1) {
    memory.copy(value, value + 1, outputAt() - value - 1);
    setOutput(outputAt() - 1);
  } else putByte(CLOSE_BRACKET);
  return end;
}

/** The elements of the array at `start`, and those of arrays in it. */
function putElements(start: u32): u32 {
  let at = start + 1;
  while (load<u8>(at) !== CLOSE_BRACKET) {
    if (load<u8>(at) === COMMA) at++;
    const first = load<u8>(at);
    // Their paths have values in several places.
    if (first === OPEN_BRACE) return FAILED;
    if (first === OPEN_BRACKET) {
      at = putElements(at);
      if (at === FAILED) return FAILED;
      continue;
    }
    const end = behindScalar(at);
    if (elements++ > 0) putByte(COMMA);
    putBytes(at, end - at);
    at = end;
  }
  return at + 1;
}

/** The name of the leaf: see `leafName` in src/query/field-name.ts. */
function putPath(length: u32): bool {
  putByte(COMMA);
  putByte(QUOTE);
  const written = outputAt();
  if (isColumn(length)) putName(CONTEXT_PREFIX);
  putBytes(FIELD_PATH, length);
  const end = outputAt();
  putByte(QUOTE);
  putByte(COLON);
  return addKey(written, end, 0);
}

/** Whether the path is the name of a column, or starts with what distinguishes it from one. */
function isColumn(length: u32): bool {
  if (startsWithName(FIELD_PATH, length, CONTEXT_PREFIX)) return true;
  for (let name = FIRST_BUILT_IN; name <= LAST_BUILT_IN; name++) if (isName(FIELD_PATH, length, name)) return true;
  return false;
}

/** The position after the string at `start`. The text is valid JSON. */
function behindString(start: u32): u32 {
  let at = start + 1;
  while (load<u8>(at) !== QUOTE) at += load<u8>(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

function behindScalar(start: u32): u32 {
  if (load<u8>(start) === QUOTE) return behindString(start);
  let at = start;
  while (true) {
    const byte = load<u8>(at);
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) return at;
    at++;
  }
}
