/* Finds the fields of a record in its line. Part of ../rows.ts; src/ship/line-reader.ts does the same, and says how. */

const QUOTE: u8 = 34;
const COMMA: u8 = 44;
const MINUS: u8 = 45;
const DOT: u8 = 46;
const ZERO: u8 = 48;
const BACKSLASH: u8 = 92;
const OPEN_BRACKET: u8 = 91;
const CLOSE_BRACKET: u8 = 93;
const OPEN_BRACE: u8 = 123;
const CLOSE_BRACE: u8 = 125;

/** Keys of a line, eight characters at a time, the first in the lowest byte. */
const TIME_MS: u64 = ((<u64>0x734d656d) << 32) | 0x6974222c; // ,"timeMs
const MESSAG: u64 = ((<u64>0x67617373) << 32) | 0x656d222c; // ,"messag
const CONTEX: u64 = ((<u64>0x7865746e) << 32) | 0x6f63222c; // ,"contex
const T_TEXT: u64 = ((<u64>0x003a2274) << 32) | 0x78655474; // tText":
const CUT_T: u64 = ((<u64>0x743a2274) << 32) | 0x7563222c; // ,"cut":t
const CONTIN: u64 = ((<u64>0x6e69746e) << 32) | 0x6f63222c; // ,"contin
const UED_TRU: u64 = ((<u64>0x7572743a) << 32) | 0x22646575; // ued":tru
const RAW: u64 = ((<u64>0x003a2277) << 32) | 0x6172222c; // ,"raw":
const SEVEN_BYTES: u64 = ((<u64>0x00ffffff) << 32) | 0xffffffff;

/** Lengths of `,"bytes":` and `,"cursor":"`. */
const BYTES_KEY: u32 = 9;
const CURSOR_KEY: u32 = 11;

/** Numbers with more digits are no safe integers. */
const MOST_DIGITS: u32 = 16;

export let isRead: bool = false;
export let offset: u64 = 0;
export let recordBytes: u64 = 0;
export let hasTime: bool = false;
export let timeMs: i64 = 0;
/** The checksum in its cursor. */
export let check: u64 = 0;
export let offsetAt: u32 = 0;
export let offsetEnd: u32 = 0;
export let bytesAt: u32 = 0;
export let bytesEnd: u32 = 0;
export let timeAt: u32 = 0;
export let timeEnd: u32 = 0;
export let columnsAt: u32 = 0;
export let columnsEnd: u32 = 0;
export let messageAt: u32 = 0;
export let messageEnd: u32 = 0;
export let rawAt: u32 = 0;
export let rawEnd: u32 = 0;
/** Both 0 without a context. */
export let contextAt: u32 = 0;
export let contextEnd: u32 = 0;
export let isCut: bool = false;
export let isContinued: bool = false;

/** Where reading goes on. */
let at: u32 = 0;
let digits: u64 = 0;

/** Reads `[start, end)`, which begins at the number of the offset; `isRead` says whether all of it was as expected. */
export function readLine(start: u32, end: u32): void {
  isRead = false;
  offsetAt = at = start;
  if (!readDigits()) return;
  offset = digits;
  offsetEnd = at;
  bytesAt = at = at + BYTES_KEY;
  if (!readDigits()) return;
  recordBytes = digits;
  bytesEnd = at;
  if (!readCursor(end)) return;
  if (!readTime()) return;
  const messageKey = findMessageKey(at, end);
  if (messageKey === 0) return;
  columnsAt = at + 1;
  columnsEnd = messageKey + 1;
  messageAt = messageKey + 11;
  messageEnd = at = stringEnd(messageAt, end);
  if (at === 0) return;
  isRead = readRest(end);
}

/** Context, marks and text; a context that is shown as it is in the log comes last. */
function readRest(end: u32): bool {
  contextAt = contextEnd = 0;
  if (isContext() && !readContext(end)) return false;
  if (load<u64>(at) === CONTEX && (load<u64>(at + 8) & SEVEN_BYTES) === T_TEXT) {
    at = stringEnd(at + 15, end);
    if (at === 0) return false;
  }
  isCut = load<u64>(at) === CUT_T && load<u16>(at + 8) === 0x7572 && load<u8>(at + 10) === 101;
  if (isCut) at += 11;
  isContinued = load<u64>(at) === CONTIN && load<u64>(at + 8) === UED_TRU && load<u8>(at + 16) === 101;
  if (isContinued) at += 17;
  if ((load<u64>(at) & SEVEN_BYTES) !== RAW) return false;
  rawAt = at + 7;
  // A text that is the last field ends with the line.
  const isLast = load<u8>(end - 2) === QUOTE;
  rawEnd = isLast ? end - 1 : stringEnd(rawAt, end);
  at = rawEnd;
  if (rawEnd <= rawAt + 1) return false;
  if (!isLast && isContext()) {
    contextAt = at + 11;
    contextEnd = end - 1;
  }
  return true;
}

function isContext(): bool {
  return load<u64>(at) === CONTEX && load<u16>(at + 8) === 0x2274 && load<u8>(at + 10) === 58;
}

function readContext(end: u32): bool {
  contextAt = at + 11;
  const rawKey = lastRawKey(contextAt, end);
  const isNext = rawKey > contextAt && load<u8>(rawKey - 1) === CLOSE_BRACE && load<u8>(end - 2) === QUOTE;
  contextEnd = at = isNext ? rawKey : valueEnd(contextAt, end);
  return at !== 0;
}

/** The last `,"raw":`, or 0: nothing in the text behind it can look like it. */
function lastRawKey(from: u32, end: u32): u32 {
  const comma = i8x16.splat(COMMA);
  const quote = i8x16.splat(QUOTE);
  let to = end;
  while (to > from) {
    const start = to - from >= 16 ? to - 16 : from;
    const hits = v128.and(i8x16.eq(v128.load(start), comma), i8x16.eq(v128.load(start, 1), quote));
    let mask = <u32>i8x16.bitmask(hits) & ((1 << (to - start)) - 1);
    while (mask !== 0) {
      const bit = 31 - clz(mask);
      if ((load<u64>(start + bit) & SEVEN_BYTES) === RAW) return start + bit;
      mask ^= 1 << bit;
    }
    to = start;
  }
  return 0;
}

function readDigits(): bool {
  const start = at;
  let value: u64 = 0;
  for (let digit = load<u8>(at) - ZERO; digit <= 9; digit = load<u8>(at) - ZERO) {
    value = value * 10 + digit;
    at++;
  }
  digits = value;
  return at > start && at - start < MOST_DIGITS;
}

function readTime(): bool {
  hasTime = load<u64>(at) === TIME_MS && load<u16>(at + 8) === 0x3a22;
  if (!hasTime) return true;
  timeAt = at = at + 10;
  const isNegative = load<u8>(at) === MINUS;
  if (isNegative) at++;
  if (!readDigits()) return false;
  timeMs = isNegative ? -(<i64>digits) : <i64>digits;
  timeEnd = at;
  return true;
}

/** `head.length.offset.check.length.name`: the checksum is kept. */
function readCursor(end: u32): bool {
  at += CURSOR_KEY;
  for (let dots = 0; dots < 3; at++) {
    if (at >= end) return false;
    if (load<u8>(at) === DOT) dots++;
  }
  check = 0;
  for (; load<u8>(at) !== DOT; at++) {
    const byte = load<u8>(at);
    if (at >= end) return false;
    check = check * 36 + (byte < 0x60 ? byte - ZERO : byte - 0x57);
  }
  if (check > 0xffff_ffff) return false;
  const quote = findQuote(at, end);
  at = quote + 1;
  return quote < end;
}

function findMessageKey(from: u32, end: u32): u32 {
  const comma = i8x16.splat(COMMA);
  const quote = i8x16.splat(QUOTE);
  for (let block = from; block < end; block += 16) {
    const hits = v128.and(i8x16.eq(v128.load(block), comma), i8x16.eq(v128.load(block, 1), quote));
    let mask = <u32>i8x16.bitmask(hits);
    while (mask !== 0) {
      const key = block + <u32>ctz(mask);
      if (key >= end) return 0;
      const isKey = load<u64>(key) === MESSAG && load<u16>(key + 8) === 0x2265 && load<u8>(key + 10) === 58;
      if (isKey) return key;
      mask &= mask - 1;
    }
  }
  return 0;
}

function findQuote(from: u32, to: u32): u32 {
  const wanted = i8x16.splat(QUOTE);
  for (let block = from; block < to; block += 16) {
    const hits = i8x16.eq(v128.load(block), wanted);
    if (v128.any_true(hits)) return min(to, block + <u32>ctz(i8x16.bitmask(hits)));
  }
  return to;
}

/** Behind the string that starts at the position; 0 if it does not end. */
function stringEnd(start: u32, end: u32): u32 {
  for (let quote = findQuote(start + 1, end); quote < end; quote = findQuote(quote + 1, end)) {
    let before = quote - 1;
    while (load<u8>(before) === BACKSLASH) before--;
    if (((quote - before) & 1) === 1) return quote + 1;
  }
  return 0;
}

/** Behind an object; 0 if it does not end. */
function valueEnd(start: u32, end: u32): u32 {
  let depth = 0;
  for (let next = start; next < end; ) {
    const byte = load<u8>(next);
    if (byte === QUOTE) {
      next = stringEnd(next, end);
      if (next === 0) return 0;
      continue;
    }
    next++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return next;
  }
  return 0;
}
