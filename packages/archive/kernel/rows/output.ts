/* Writes to the rows. Part of ../rows.ts. */
import { DIGITS, WORDS } from '../rows';

const QUOTE: u8 = 34;
const MINUS: u8 = 45;
const ZERO: u8 = 48;
const BACKSLASH: u8 = 92;
const LETTER_D: u8 = 100;
const LETTER_U: u8 = 117;

const MOST_DIGITS: u32 = 24;

/** Where the next byte is written. */
let out: u32 = 0;

export function outputAt(): u32 {
  return out;
}

export function setOutput(at: u32): void {
  out = at;
}

/** May write up to 15 bytes more, which the next ones replace. */
export function putBytes(from: u32, to: u32): void {
  let target = out;
  for (let at = from; at < to; at += 16) {
    v128.store(target, v128.load(at));
    target += 16;
  }
  out += to - from;
}

/** A word of the table of the host. */
export function putWord(index: u32): void {
  const word = WORDS + (index << 5);
  v128.store(out, v128.load(word));
  v128.store(out, v128.load(word + 16), 16);
  out += load<u8>(word + 31);
}

export function putNumber(value: i64): void {
  if (value < 0) store<u8>(out++, MINUS);
  const end = DIGITS + MOST_DIGITS;
  let at = end;
  let rest = <u64>abs(value);
  while (rest > 0xffff_ffff) {
    const next = rest / 10;
    store<u8>(--at, <u8>(ZERO + <u8>(rest - next * 10)));
    rest = next;
  }
  let small = <u32>rest;
  do {
    const next = small / 10;
    store<u8>(--at, <u8>(ZERO + <u8>(small - next * 10)));
    small = next;
  } while (small !== 0);
  putBytes(at, end);
}

/** JSON, in which halves of characters are replaced: they are no text, and servers refuse them. */
export function putJson(from: u32, to: u32): void {
  const start = out;
  putBytes(from, to);
  let at = findBackslash(from, to);
  while (at < to) {
    const isHalf = load<u8>(at + 1) === LETTER_U && load<u8>(at + 2) === LETTER_D && load<u8>(at + 3) > ZERO + 7;
    if (isHalf) store<u32>(start + at + 2 - from, 0x64666666); // fffd
    at = findBackslash(at + 2, to);
  }
}

/** JSON as the inside of a string, and the quote behind it. */
export function putQuoted(from: u32, to: u32): void {
  const quote = i8x16.splat(QUOTE);
  const backslash = i8x16.splat(BACKSLASH);
  let target = out;
  let at = from;
  while (at < to) {
    const bytes = v128.load(at);
    v128.store(target, bytes);
    const special = <u32>i8x16.bitmask(v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash)));
    const clean = min(special === 0 ? 16 : <u32>ctz(special), to - at);
    at += clean;
    target += clean;
    if (at < to && clean < 16) {
      store<u8>(target, BACKSLASH);
      store<u8>(target, load<u8>(at++), 1);
      target += 2;
    }
  }
  store<u8>(target, QUOTE);
  out = target + 1;
}

/** The first backslash in `[from, to)`, or `to`. */
export function findBackslash(from: u32, to: u32): u32 {
  const wanted = i8x16.splat(BACKSLASH);
  for (let at = from; at < to; at += 16) {
    const hits = i8x16.eq(v128.load(at), wanted);
    if (v128.any_true(hits)) return min(to, at + <u32>ctz(i8x16.bitmask(hits)));
  }
  return to;
}
