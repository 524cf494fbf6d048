/*
 * Finds escape sequences that may be part of a secret. The common ones are decoded here, so that those of ordinary text
 * (`\"` and `
 * ` in JSON, `%20` in URLs) cost next to nothing; the rest is left to the host.
 */

const PERCENT: u32 = 0x25;
const AMPERSAND: u32 = 0x26;
const PLUS: u32 = 0x2b;
const BACKSLASH: u32 = 0x5c;
const SPACE: u32 = 0x20;

/** Levels of escapes that are decoded. */
const MAX_DEPTH: u32 = 3;

/** More backslashes than three levels of escaping can make of one. */
const MAX_RUN: u32 = 16;

/** Addresses of the tables, which follow one another in memory. See src/scrub/escape-index.ts. */
let followTable: u32 = 0;
let pairTable: u32 = 0;
let firstTable: u32 = 0;
/** Start of the text being scanned. */
let textStart: u32 = 0;

/**
 * Writes to `hits` the positions in the `length` bytes at `text` where an escape that may be part of a secret begins;
 * returns how many. The tables: `introducers`, indexed by the low four bits of a byte, the byte that begins an escape;
 * then, indexed by the byte after it, a bit for each introducer (selected by its own low three bits) it may follow; a
 * bit for each pair of bytes that occurs in secrets; and for each byte whether a secret begins with it. Reads up to 64
 * bytes beyond the end.
 */
export function escapes(introducers: u32, text: u32, length: u32, hits: u32): u32 {
  followTable = introducers + 16;
  pairTable = followTable + 256;
  firstTable = pairTable + 8192;
  textStart = text;
  const table = v128.load(introducers);
  const low = i8x16.splat(15);
  const stop = text + length;
  let written = hits;
  for (let at = text; at < stop; at += 64) {
    const a = introducersIn(table, low, v128.load(at));
    const b = introducersIn(table, low, v128.load(at, 16));
    const c = introducersIn(table, low, v128.load(at, 32));
    const d = introducersIn(table, low, v128.load(at, 48));
    if (!v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)))) continue;
    let bits =
      (<u64>i8x16.bitmask(a) & 0xffff) |
      ((<u64>i8x16.bitmask(b) & 0xffff) << 16) |
      ((<u64>i8x16.bitmask(c) & 0xffff) << 32) |
      ((<u64>i8x16.bitmask(d) & 0xffff) << 48);
    while (bits !== 0) {
      const found = at + <u32>ctz(bits);
      if (found >= stop) break;
      if (mayMatter(found)) {
        store<u32>(written, found - text);
        written += 4;
      }
      bits &= bits - 1;
    }
  }
  return (written - hits) >> 2;
}

function introducersIn(table: v128, low: v128, bytes: v128): v128 {
  return i8x16.eq(i8x16.swizzle(table, v128.and(bytes, low)), bytes);
}

function mayMatter(at: u32): bool {
  const introducer = <u32>load<u8>(at);
  if (!mayFollow(introducer, load<u8>(at, 1))) return false;
  // What precedes the text is not known here.
  if (at === textStart) return true;
  if (introducer === BACKSLASH && !mayGoOn(at)) return mayBe(at, BACKSLASH);
  // By far the most frequent case: one level, with digits.
  const isUnit = introducer === BACKSLASH && load<u8>(at, 1) === 0x75;
  if (introducer === PERCENT ? readDigits(at + 1, 2, 16, false) : isUnit && readDigits(at + 2, 4, 16, true)) {
    if (isWide) return mayBe(at, leadByte(code));
    if (!isIntroducer(code)) return mayBe(at, code);
  }
  for (let depth: u32 = 1; depth <= MAX_DEPTH; depth++) {
    read(at, depth);
    if (end === at + 1 && code === introducer) continue;
    if (code < 0x80 || !isWide) {
      if (mayBe(at, code)) return true;
      if (isEither && code >= 0x80 && mayBe(at, leadByte(code))) return true;
      if (!isIntroducer(code)) return false;
    } else return mayBe(at, leadByte(code));
  }
  return false;
}

/**
 * Whether a run of backslashes may be more than one escaped backslash: what follows it decides, unless it is very long.
 */
function mayGoOn(at: u32): bool {
  let next = at + 1;
  while (load<u8>(next) === BACKSLASH) if (++next === at + MAX_RUN) return false;
  const sign = <u32>load<u8>(next);
  if (!mayFollow(BACKSLASH, sign)) return false;
  // A backslash before any other letter is not an escape.
  return !isWord(sign) || letterOf(sign) !== 0 || sign <= 0x39 || hexOf(load<u8>(next, 1)) >= 0;
}

/** Whether this byte, after the one before `at` or as the first one, may be part of a secret. */
function mayBe(at: u32, byte: u32): bool {
  if (load<u8>(firstTable + byte) !== 0) return true;
  const pair = ((<u32>load<u8>(at - 1)) << 8) | byte;
  return ((load<u8>(pairTable + (pair >> 3)) >> (pair & 7)) & 1) !== 0;
}

function mayFollow(introducer: u32, next: u32): bool {
  return ((load<u8>(followTable + next) >> (introducer & 7)) & 1) !== 0;
}

// The result of `read`; src/scrub/escape-reader.ts does the same.
let code: u32 = 0;
let end: u32 = 0;
let isWide: bool = false;
let isEither: bool = false;

/** Reads the character at an address, with `depth` levels of escapes decoded. */
function read(at: u32, depth: u32): void {
  if (depth === 0) {
    set(load<u8>(at), at + 1);
    return;
  }
  read(at, depth - 1);
  if (isWide) return;
  const introducer = code;
  const behind = end;
  let isRead = true;
  if (introducer === PLUS) set(SPACE, behind);
  else if (introducer === PERCENT) isRead = readPercent(behind);
  else if (introducer === BACKSLASH) isRead = readBackslash(behind, depth - 1);
  else if (introducer === AMPERSAND) isRead = readEntity(behind);
  if (!isRead) set(introducer, behind);
}

function set(value: u32, behind: u32): void {
  code = value;
  end = behind;
  isWide = false;
  isEither = false;
}

function readPercent(at: u32): bool {
  if (load<u8>(at) === 0x75) return readDigits(at + 1, 4, 16, true);
  return readDigits(at, 2, 16, false);
}

function readBackslash(at: u32, depth: u32): bool {
  const sign = <u32>load<u8>(at);
  if (sign === 0x75) return readDigits(at + 1, 4, 16, true);
  if (sign === 0x55) return readDigits(at + 1, 8, 16, true);
  if (sign === 0x78) {
    isEither = readDigits(at + 1, 2, 16, false);
    return isEither;
  }
  if (sign >= 0x30 && sign <= 0x33) return readDigits(at, 3, 8, false);
  const letter = letterOf(sign);
  if (letter !== 0) {
    set(letter, at + 1);
    return true;
  }
  // For all other characters, the outer levels may have escaped them as well.
  read(at, depth);
  if (isWide || code < SPACE || code > 0x7e || isWord(code)) return false;
  set(code, end);
  return true;
}

function readEntity(at: u32): bool {
  const first = <u32>load<u8>(at);
  const second = <u32>load<u8>(at, 1);
  if (first === 0x23) return readNumber(at + 1);
  if (first === 0x61 && second === 0x6d) return closeEntity(at + 3, AMPERSAND);
  if (first === 0x61 && second === 0x70) return closeEntity(at + 4, 0x27);
  if (first === 0x6c && second === 0x74) return closeEntity(at + 2, 0x3c);
  if (first === 0x67 && second === 0x74) return closeEntity(at + 2, 0x3e);
  return first === 0x71 && second === 0x75 && closeEntity(at + 4, 0x22);
}

/** Named entities are decoded by the host. */
function closeEntity(at: u32, value: u32): bool {
  if (load<u8>(at) !== 0x3b) return false;
  set(value, at + 1);
  return true;
}

/** Reads `#47;` or `#x2f;`, starting after the `#`. */
function readNumber(at: u32): bool {
  const isHex = load<u8>(at) === 0x78;
  const base: u32 = isHex ? 16 : 10;
  const from = isHex ? at + 1 : at;
  let value: u32 = 0;
  for (let next = from; next < from + 8; next++) {
    const sign = <u32>load<u8>(next);
    if (sign === 0x3b) {
      set(value, next + 1);
      isWide = value >= 0x80;
      return next > from && value <= 0x10ffff;
    }
    const digit = hexOf(sign);
    if (digit < 0 || <u32>digit >= base) return false;
    value = value * base + <u32>digit;
  }
  return false;
}

function readDigits(at: u32, digits: u32, base: u32, mayBeWide: bool): bool {
  let value: u32 = 0;
  for (let next = at; next < at + digits; next++) {
    const digit = hexOf(load<u8>(next));
    if (digit < 0 || <u32>digit >= base) return false;
    value = value * base + <u32>digit;
  }
  if (value > 0x10ffff) return false;
  set(value, at + digits);
  isWide = mayBeWide && value >= 0x80;
  return true;
}

/** The first byte of a character in UTF-8; for the first half of a surrogate pair, that of the pair. */
function leadByte(value: u32): u32 {
  if (value >= 0xd800 && value <= 0xdbff) return 0xf0 | ((0x10000 + ((value - 0xd800) << 10)) >> 18);
  if (value >= 0x10000) return 0xf0 | (value >> 18);
  return value >= 0x800 ? 0xe0 | (value >> 12) : 0xc0 | (value >> 6);
}

function letterOf(sign: u32): u32 {
  if (sign === 0x6e) return 10;
  if (sign === 0x74) return 9;
  if (sign === 0x72) return 13;
  if (sign === 0x61 || sign === 0x62) return sign - 0x5a;
  if (sign === 0x66) return 12;
  if (sign === 0x76) return 11;
  return sign === 0x65 ? 27 : 0;
}

function isIntroducer(byte: u32): bool {
  return byte === PERCENT || byte === AMPERSAND || byte === PLUS || byte === BACKSLASH;
}

function isWord(byte: u32): bool {
  const lower = byte | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x5f;
}

function hexOf(sign: u32): i32 {
  if (sign >= 0x30 && sign <= 0x39) return sign - 0x30;
  const lower = sign | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
