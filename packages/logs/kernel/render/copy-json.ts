/* Copies JSON such that it is what `JSON.stringify` makes of the parsed text. Part of ../scan.ts. */

import { KEY_HASHES } from '../scan';
import { behindLiteral, FAILED, isDigit, specialBytes } from '../scan/json-bytes';
import { outputAt, putByte, putBytes, putEscape, setOutput } from './output';

const SPACE: u8 = 32;
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

/** Deeper text is left to the parser, which has a limit of its own. */
const MAX_DEPTH: u32 = 64;

/** Keys of the objects that are open; more are left to the parser. */
export const MAX_KEYS: u32 = 256;

/** A number whose digits make a smaller one is that of no other text: no two are as close as the next number is. */
const EXACT_DIGITS: u64 = 1 << 52;

let stop: u32 = 0;
let depth: u32 = 0;
let keys: u32 = 0;

/** Starts with a text that ends at `end`. */
export function beginCopy(end: u32): void {
  stop = end;
  depth = 0;
  keys = 0;
}

/** Copies the object at `at`; returns the position after it. */
export function copyObject(start: u32): u32 {
  if (++depth > MAX_DEPTH) return FAILED;
  const firstKey = keys;
  putByte(OPEN_BRACE);
  let at = behindSpace(start + 1);
  if (at < stop && load<u8>(at) === CLOSE_BRACE) return leave(at, CLOSE_BRACE);
  while (at < stop) {
    at = copyKey(at, firstKey);
    if (at === FAILED) return FAILED;
    at = copyValue(at);
    if (at === FAILED) return FAILED;
    at = behindSpace(at);
    if (at >= stop) return FAILED;
    const next = load<u8>(at);
    if (next === CLOSE_BRACE) {
      keys = firstKey;
      return leave(at, CLOSE_BRACE);
    }
    if (next !== COMMA) return FAILED;
    putByte(COMMA);
    at = behindSpace(at + 1);
  }
  return FAILED;
}

/**
 * Copies the key at `at` and the colon; returns where its value starts. An object keeps neither keys that occur twice nor
 * the order of those that are numbers.
 */
export function copyKey(at: u32, firstKey: u32): u32 {
  if (load<u8>(at) !== QUOTE) return FAILED;
  const written = outputAt() + 1;
  let end = copyString(at);
  if (end === FAILED || !addKey(written, outputAt() - 1, firstKey)) return FAILED;
  end = behindSpace(end);
  if (end >= stop || load<u8>(end) !== COLON) return FAILED;
  putByte(COLON);
  return behindSpace(end + 1);
}

/** Whether a key, as it was written, is the only one among those from `firstKey` on, and no number. */
export function addKey(start: u32, end: u32, firstKey: u32): bool {
  if (keys >= MAX_KEYS) return false;
  let hash: u32 = 0x811c9dc5;
  let isNumber = true;
  for (let at = start; at < end; at++) {
    const byte = load<u8>(at);
    hash = (hash ^ byte) * 0x01000193;
    isNumber = isNumber && isDigit(byte);
  }
  if (isNumber && end > start) return false;
  for (let key = firstKey; key < keys; key++) if (load<u32>(KEY_HASHES + (key << 2)) === hash) return false;
  store<u32>(KEY_HASHES + (keys << 2), hash);
  keys++;
  return true;
}

function copyArray(start: u32): u32 {
  if (++depth > MAX_DEPTH) return FAILED;
  putByte(OPEN_BRACKET);
  let at = behindSpace(start + 1);
  if (at < stop && load<u8>(at) === CLOSE_BRACKET) return leave(at, CLOSE_BRACKET);
  while (at < stop) {
    at = copyValue(at);
    if (at === FAILED) return FAILED;
    at = behindSpace(at);
    if (at >= stop) return FAILED;
    const next = load<u8>(at);
    if (next === CLOSE_BRACKET) return leave(at, CLOSE_BRACKET);
    if (next !== COMMA) return FAILED;
    putByte(COMMA);
    at = behindSpace(at + 1);
  }
  return FAILED;
}

function leave(at: u32, closing: u8): u32 {
  depth--;
  putByte(closing);
  return at + 1;
}

/** Copies the value at `at`; returns the position after it. */
export function copyValue(at: u32): u32 {
  if (at >= stop) return FAILED;
  const first = load<u8>(at);
  if (first === QUOTE) return copyString(at);
  if (first === OPEN_BRACE) return copyObject(at);
  if (first === OPEN_BRACKET) return copyArray(at);
  const end = first === MINUS || isDigit(first) ? numberEnd(at) : behindLiteral(at);
  if (end !== FAILED) putBytes(at, end - at);
  return end;
}

/** Copies the string at `start`, with its quotes. */
export function copyString(start: u32): u32 {
  putByte(QUOTE);
  let at = start + 1;
  let written = outputAt();
  while (at < stop) {
    const bytes = v128.load(at);
    v128.store(written, bytes);
    const special = specialBytes(bytes);
    if (!v128.any_true(special)) {
      at += 16;
      written += 16;
      continue;
    }
    const clean = <u32>ctz(i8x16.bitmask(special));
    at += clean;
    written += clean;
    const byte = load<u8>(at);
    if (at >= stop || byte < SPACE) return FAILED;
    if (byte === QUOTE) {
      setOutput(written);
      putByte(QUOTE);
      return at + 1;
    }
    setOutput(written);
    at = copyEscape(at + 1);
    if (at === FAILED) return FAILED;
    written = outputAt();
  }
  return FAILED;
}

/** Copies the escape whose letter is at `at`, or the character it means. */
function copyEscape(at: u32): u32 {
  if (at >= stop) return FAILED;
  const letter = load<u8>(at);
  switch (letter) {
    case QUOTE:
    case BACKSLASH:
    case 98: // b
    case 102: // f
    case 110: // n
    case 114: // r
    case 116: // t
      putByte(BACKSLASH);
      putByte(letter);
      return at + 1;
    case 47: // slash
      putByte(letter);
      return at + 1;
    case 117: // u
      return copyUnicode(at + 1);
    default:
      return FAILED;
  }
}

/** The character whose four digits are at `at`, in UTF-8 unless it must be escaped. */
function copyUnicode(at: u32): u32 {
  const unit = hexUnit(at);
  if (unit < 0) return FAILED;
  const code = <u32>unit;
  if (code < 32 || code === QUOTE || code === BACKSLASH) {
    setOutput(putEscape(outputAt(), <u8>code));
    return at + 4;
  }
  if ((code & 0xf800) !== 0xd800) {
    putCharacter(code);
    return at + 4;
  }
  // Half of a pair alone is written as an escape.
  if (code >= 0xdc00 || load<u8>(at + 4) !== BACKSLASH || load<u8>(at + 5) !== 117) return FAILED;
  const low = hexUnit(at + 6);
  if ((low & 0xfc00) !== 0xdc00 || low < 0) return FAILED;
  putCharacter(0x10000 + ((code & 0x3ff) << 10) + (<u32>low & 0x3ff));
  return at + 10;
}

function putCharacter(code: u32): void {
  if (code < 0x80) {
    putByte(<u8>code);
    return;
  }
  if (code < 0x800) putByte(<u8>(0xc0 | (code >> 6)));
  else {
    if (code < 0x10000) putByte(<u8>(0xe0 | (code >> 12)));
    else {
      putByte(<u8>(0xf0 | (code >> 18)));
      putByte(<u8>(0x80 | ((code >> 12) & 63)));
    }
    putByte(<u8>(0x80 | ((code >> 6) & 63)));
  }
  putByte(<u8>(0x80 | (code & 63)));
}

/** Four hexadecimal digits; negative if they are not. */
function hexUnit(at: u32): i32 {
  if (at + 4 > stop) return -1;
  let unit: i32 = 0;
  for (let digit: u32 = 0; digit < 4; digit++) {
    const byte = load<u8>(at + digit);
    const letter = byte | 0x20;
    if (isDigit(byte)) unit = (unit << 4) | (byte - ZERO);
    else if (letter >= 97 && letter <= 102) unit = (unit << 4) | (letter - 87);
    else return -1;
  }
  return unit;
}

/**
 * The position after the number at `start`, if it is written as `JSON.stringify` does: without an exponent, zeros around
 * it, or more digits than are exact.
 */
function numberEnd(start: u32): u32 {
  const whole = load<u8>(start) === MINUS ? start + 1 : start;
  let at = whole;
  let value: u64 = 0;
  while (at < stop && isDigit(load<u8>(at))) value = value * 10 + (load<u8>(at++) - ZERO);
  if (at === whole || at > whole + 16 || (load<u8>(whole) === ZERO && at > whole + 1)) return FAILED;
  if (at < stop && load<u8>(at) === DOT) {
    const fraction = ++at;
    // Smaller ones are written with an exponent.
    if (value === 0 && load<u32>(at) === 0x30303030 && load<u16>(at + 4) === 0x3030) return FAILED;
    while (at < stop && isDigit(load<u8>(at))) value = value * 10 + (load<u8>(at++) - ZERO);
    if (at === fraction || at > whole + 18 || load<u8>(at - 1) === ZERO) return FAILED;
  }
  if (value >= EXACT_DIGITS || (value === 0 && whole > start)) return FAILED;
  return at < stop && (load<u8>(at) | 0x20) === 101 ? FAILED : at;
}

/** Mostly there is none. */
export function behindSpace(start: u32): u32 {
  let at = start;
  while (at < stop) {
    const byte = load<u8>(at);
    if (byte > SPACE) break;
    if (byte !== SPACE && byte !== 9 && byte !== 10 && byte !== 13) break;
    at++;
  }
  return at;
}
