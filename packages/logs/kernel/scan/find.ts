/* Searches for a text. Part of ../scan.ts. */
import { bits64, MASK, NEEDLE, TEXT, VALUE_TEXT } from '../scan';

const QUOTE: u8 = 34;
const COMMA: u8 = 44;
const COLON: u8 = 58;
const EQUALS: u8 = 61;
const OPEN_BRACKET: u8 = 91;
const BACKSLASH: u8 = 92;
const CLOSE_BRACKET: u8 = 93;
const CLOSE_BRACE: u8 = 125;

/** Longer values are left to the host. */
const LONGEST_VALUE: u32 = 256;

/**
 * The first position of the needle in `[from, to)`, or -1. MASK holds, per byte of the needle, the bits to set before
 * comparing: 0x20 for a letter of either case. Two bytes of the needle, at `i` and `j`, are compared first.
 */
export function find(from: u32, to: u32, length: u32, i: u32, j: u32): i32 {
  if (to < from + length) return -1;
  const first = TEXT + from;
  const last = TEXT + to - length;
  return (load<u8>(MASK + i) | load<u8>(MASK + j)) === 0
    ? findExact(first, last, length, i, j)
    : findMasked(first, last, length, i, j);
}

/**
 * As `find`, for the end of a name of which the value in JSON must contain the text in VALUE_TEXT, of so many bytes, in
 * lower case. Those of pairs, of lists and with escapes are left to the host.
 */
export function findNamed(from: u32, to: u32, length: u32, i: u32, j: u32, valueBytes: u32): i32 {
  let hit = find(from, to, length, i, j);
  while (hit >= 0 && !mayPrecede(TEXT + <u32>hit + length, TEXT + to, valueBytes))
    hit = find(hit + 1, to, length, i, j);
  return hit;
}

function mayPrecede(start: u32, stop: u32, valueBytes: u32): bool {
  const mark = load<u8>(start);
  if (start >= stop || mark !== QUOTE) return start >= stop || mark === EQUALS;
  const colon = behindBlanks(start + 1, stop);
  if (colon >= stop || load<u8>(colon) !== COLON) return colon >= stop;
  let at = behindBlanks(colon + 1, stop);
  if (at >= stop || load<u8>(at) === OPEN_BRACKET) return true;
  const isText = load<u8>(at) === QUOTE;
  if (isText) at++;
  const limit = min(stop, at + LONGEST_VALUE);
  for (let end = at; end < limit; end++) {
    const byte = load<u8>(end);
    if (byte === BACKSLASH) return true;
    const isEnd = isText
      ? byte === QUOTE
      : isBlank(byte) || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
    if (isEnd) return hasValue(at, end, valueBytes);
  }
  return true;
}

function hasValue(from: u32, to: u32, length: u32): bool {
  for (let at = from; at + length <= to; at++) {
    let same: u32 = 0;
    while (same < length && folded(load<u8>(at + same)) === load<u8>(VALUE_TEXT + same)) same++;
    if (same === length) return true;
  }
  return false;
}

function folded(byte: u8): u8 {
  return byte >= 65 && byte <= 90 ? byte | 0x20 : byte;
}

function behindBlanks(start: u32, stop: u32): u32 {
  let at = start;
  while (at < stop && isBlank(load<u8>(at))) at++;
  return at;
}

function isBlank(byte: u8): bool {
  return byte === 32 || byte === 9 || byte === 10 || byte === 13;
}

/** The two bytes are compared as they are: half of the time of a search. */
function findExact(first: u32, last: u32, length: u32, i: u32, j: u32): i32 {
  const byteI = i8x16.splat(load<u8>(NEEDLE + i));
  const byteJ = i8x16.splat(load<u8>(NEEDLE + j));
  const stop = last + i;
  let p = first + i;
  let q = first + j;
  while (p <= stop) {
    let hits = exactHits(v128.load(p), v128.load(q), byteI, byteJ);
    hits = v128.or(hits, exactHits(v128.load(p, 16), v128.load(q, 16), byteI, byteJ));
    hits = v128.or(hits, exactHits(v128.load(p, 32), v128.load(q, 32), byteI, byteJ));
    hits = v128.or(hits, exactHits(v128.load(p, 48), v128.load(q, 48), byteI, byteJ));
    hits = v128.or(hits, exactHits(v128.load(p, 64), v128.load(q, 64), byteI, byteJ));
    hits = v128.or(hits, exactHits(v128.load(p, 80), v128.load(q, 80), byteI, byteJ));
    hits = v128.or(hits, exactHits(v128.load(p, 96), v128.load(q, 96), byteI, byteJ));
    hits = v128.or(hits, exactHits(v128.load(p, 112), v128.load(q, 112), byteI, byteJ));
    if (v128.any_true(hits)) {
      const found = firstIn(p - i, last, length, i, j);
      if (found >= 0) return found;
    }
    p += 128;
    q += 128;
  }
  return -1;
}

function exactHits(atI: v128, atJ: v128, byteI: v128, byteJ: v128): v128 {
  return v128.and(i8x16.eq(atI, byteI), i8x16.eq(atJ, byteJ));
}

function findMasked(first: u32, last: u32, length: u32, i: u32, j: u32): i32 {
  const byteI = i8x16.splat(load<u8>(NEEDLE + i));
  const byteJ = i8x16.splat(load<u8>(NEEDLE + j));
  const maskI = i8x16.splat(load<u8>(MASK + i));
  const maskJ = i8x16.splat(load<u8>(MASK + j));
  const stop = last + i;
  let p = first + i;
  let q = first + j;
  while (p <= stop) {
    let hits = maskedHits(v128.load(p), v128.load(q), byteI, byteJ, maskI, maskJ);
    hits = v128.or(hits, maskedHits(v128.load(p, 16), v128.load(q, 16), byteI, byteJ, maskI, maskJ));
    hits = v128.or(hits, maskedHits(v128.load(p, 32), v128.load(q, 32), byteI, byteJ, maskI, maskJ));
    hits = v128.or(hits, maskedHits(v128.load(p, 48), v128.load(q, 48), byteI, byteJ, maskI, maskJ));
    hits = v128.or(hits, maskedHits(v128.load(p, 64), v128.load(q, 64), byteI, byteJ, maskI, maskJ));
    hits = v128.or(hits, maskedHits(v128.load(p, 80), v128.load(q, 80), byteI, byteJ, maskI, maskJ));
    hits = v128.or(hits, maskedHits(v128.load(p, 96), v128.load(q, 96), byteI, byteJ, maskI, maskJ));
    hits = v128.or(hits, maskedHits(v128.load(p, 112), v128.load(q, 112), byteI, byteJ, maskI, maskJ));
    if (v128.any_true(hits)) {
      const found = firstIn(p - i, last, length, i, j);
      if (found >= 0) return found;
    }
    p += 128;
    q += 128;
  }
  return -1;
}

function maskedHits(atI: v128, atJ: v128, byteI: v128, byteJ: v128, maskI: v128, maskJ: v128): v128 {
  return v128.and(i8x16.eq(v128.or(atI, maskI), byteI), i8x16.eq(v128.or(atJ, maskJ), byteJ));
}

/** The first position of the needle in the 128 bytes at `at`, and not behind `last`; or -1. */
function firstIn(at: u32, last: u32, length: u32, i: u32, j: u32): i32 {
  for (let half: u32 = 0; half < 128; half += 64) {
    let bits = pairs64(at + half, i, j);
    while (bits !== 0) {
      const candidate = at + half + <u32>ctz(bits);
      if (candidate > last) return -1;
      if (equals(candidate, length)) return candidate - TEXT;
      bits &= bits - 1;
    }
  }
  return -1;
}

/** A bit for each of the 64 positions at which both bytes are in place. */
function pairs64(at: u32, i: u32, j: u32): u64 {
  const byteI = i8x16.splat(load<u8>(NEEDLE + i));
  const byteJ = i8x16.splat(load<u8>(NEEDLE + j));
  const maskI = i8x16.splat(load<u8>(MASK + i));
  const maskJ = i8x16.splat(load<u8>(MASK + j));
  const p = at + i;
  const q = at + j;
  return bits64(
    maskedHits(v128.load(p), v128.load(q), byteI, byteJ, maskI, maskJ),
    maskedHits(v128.load(p, 16), v128.load(q, 16), byteI, byteJ, maskI, maskJ),
    maskedHits(v128.load(p, 32), v128.load(q, 32), byteI, byteJ, maskI, maskJ),
    maskedHits(v128.load(p, 48), v128.load(q, 48), byteI, byteJ, maskI, maskJ),
  );
}

function equals(at: u32, length: u32): bool {
  for (let k: u32 = 0; k < length; k++) {
    if ((load<u8>(at + k) | load<u8>(MASK + k)) !== load<u8>(NEEDLE + k)) return false;
  }
  return true;
}
