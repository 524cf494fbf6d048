/* Reads JSON as `JSON.stringify` writes it. Part of ../lines.ts. Every text ends with something that JSON cannot contain. */
import { behindEscape, behindLiteral, FAILED, isDigit, isUtf8, specialBytes } from './bytes';

const QUOTE: u8 = 34;
const COMMA: u8 = 44;
const MINUS: u8 = 45;
const DOT: u8 = 46;
const ZERO: u8 = 48;
const COLON: u8 = 58;
const OPEN_BRACKET: u8 = 91;
const BACKSLASH: u8 = 92;
const CLOSE_BRACKET: u8 = 93;
const OPEN_BRACE: u8 = 123;
const CLOSE_BRACE: u8 = 125;

/** Integers with more digits may not be exact. */
const MAX_DIGITS: u32 = 15;

/** Whether bytes beyond ASCII were seen in the line. */
let beyond: bool = false;

/** Whether the string that was read last has escapes. */
let escaped: bool = false;

export function hasEscapes(): bool {
  return escaped;
}

export function startLine(): void {
  beyond = false;
}

/** Whether `[from, to)`, the line that was read, is valid UTF-8. */
export function hasOnlyValidText(from: u32, to: u32): bool {
  return !beyond || isUtf8(from, to);
}

/** The position after the string, of which `start` is the quote. */
export function readString(start: u32): u32 {
  if (load<u8>(start) !== QUOTE) return FAILED;
  let at = start + 1;
  let all = i8x16.splat(0);
  escaped = false;
  while (true) {
    const bytes = v128.load(at);
    all = v128.or(all, bytes);
    const special = specialBytes(bytes);
    // Not by a bit mask of all sixteen: on arm64, that takes as long as all the rest.
    const low = i64x2.extract_lane(special, 0);
    if (low !== 0) at += <u32>ctz(low) >> 3;
    else {
      const high = i64x2.extract_lane(special, 1);
      if (high === 0) {
        at += 16;
        continue;
      }
      at += 8 + (<u32>ctz(high) >> 3);
    }
    const byte = load<u8>(at);
    if (byte === QUOTE) {
      if (v128.any_true(i8x16.shr_u(all, 7))) beyond = true;
      return at + 1;
    }
    if (byte !== BACKSLASH) return FAILED;
    escaped = true;
    at = behindEscape(at + 1);
    if (at === FAILED) return FAILED;
  }
}

/** Digits, few enough to be exact. */
export function readCount(from: u32): u32 {
  let at = from;
  while (isDigit(load<u8>(at))) at++;
  const digits = at - from;
  return digits === 0 || digits > MAX_DIGITS || (load<u8>(from) === ZERO && digits > 1) ? FAILED : at;
}

/** Without an exponent. */
function readNumber(from: u32): u32 {
  let at = readCount(load<u8>(from) === MINUS ? from + 1 : from);
  if (at === FAILED || load<u8>(at) !== DOT) return at;
  const fraction = ++at;
  while (isDigit(load<u8>(at))) at++;
  return at === fraction ? FAILED : at;
}

/** Whether the inside of a string is a level, at most five letters. */
export function isLevel(at: u32): bool {
  // As little-endian numbers: "INFO", "WARN", "DEBU", "ERRO", "FATA" and "TRAC".
  const word = load<u32>(at);
  const last = load<u8>(at + 4);
  if (word === 0x4f464e49 || word === 0x4e524157) return last === QUOTE;
  if (load<u8>(at + 5) !== QUOTE) return false;
  if (word === 0x55424544) return last === 71; // G
  if (word === 0x4f525245) return last === 82; // R
  if (word === 0x41544146) return last === 76; // L
  return word === 0x43415254 && last === 69; // E
}

export function readTags(start: u32): u32 {
  if (load<u8>(start) !== OPEN_BRACKET) return FAILED;
  let at = start + 1;
  if (load<u8>(at) === CLOSE_BRACKET) return at + 1;
  while (true) {
    at = readString(at);
    if (at === FAILED) return FAILED;
    const next = load<u8>(at++);
    if (next === CLOSE_BRACKET) return at;
    if (next !== COMMA) return FAILED;
  }
}

/** An object of scalars, and of lists of them. */
export function readFields(start: u32): u32 {
  if (load<u8>(start) !== OPEN_BRACE) return FAILED;
  let at = start + 1;
  if (load<u8>(at) === CLOSE_BRACE) return at + 1;
  while (true) {
    at = readKey(at);
    if (at === FAILED) return FAILED;
    at = load<u8>(at) === OPEN_BRACKET ? readValue(at, 1) : readScalar(at);
    if (at === FAILED) return FAILED;
    const next = load<u8>(at++);
    if (next === CLOSE_BRACE) return at;
    if (next !== COMMA) return FAILED;
  }
}

/** The position after a value with at most so many containers in each other. */
export function readValue(start: u32, left: u32): u32 {
  const open = load<u8>(start);
  if (open !== OPEN_BRACE && open !== OPEN_BRACKET) return readScalar(start);
  if (left === 0) return FAILED;
  const close: u8 = open + 2;
  let at = start + 1;
  if (load<u8>(at) === close) return at + 1;
  while (true) {
    if (open === OPEN_BRACE) at = readKey(at);
    if (at === FAILED) return FAILED;
    at = readValue(at, left - 1);
    if (at === FAILED) return FAILED;
    const next = load<u8>(at++);
    if (next === close) return at;
    if (next !== COMMA) return FAILED;
  }
}

/** With its colon. */
function readKey(at: u32): u32 {
  const end = readString(at);
  return end !== FAILED && load<u8>(end) === COLON ? end + 1 : FAILED;
}

function readScalar(at: u32): u32 {
  if (load<u8>(at) === QUOTE) return readString(at);
  const end = behindLiteral(at);
  return end === FAILED ? readNumber(at) : end;
}
