/* Writes text and JSON strings to OUTPUT. Part of ../scan.ts. */

import { DIGITS } from '../scan';
import { specialBytes } from '../scan/json-bytes';

const QUOTE: u8 = 34;
const BACKSLASH: u8 = 92;

/** Where the next byte is written. */
let out: u32 = 0;

export function outputAt(): u32 {
  return out;
}

export function setOutput(at: u32): void {
  out = at;
}

export function putByte(byte: u8): void {
  store<u8>(out++, byte);
}

/** Writes `length` bytes of memory. May write up to 15 bytes more, which the next ones replace. */
export function putBytes(from: u32, length: u32): void {
  let done: u32 = 0;
  do {
    v128.store(out + done, v128.load(from + done));
    done += 16;
  } while (done < length);
  out += length;
}

/** Up to eight characters, the first in the lowest byte. */
export function putWord(word: u64, length: u32): void {
  store<u64>(out, word);
  out += length;
}

/** Numbers are made from their ends. */
const MOST_DIGITS: u32 = 24;

export function putNumber(value: u64, base: u64): void {
  const end = DIGITS + MOST_DIGITS;
  let at = end;
  let rest = value;
  while (rest > 0xffff_ffff) {
    const next = rest / base;
    store<u8>(--at, digitOf(<u32>(rest - next * base)));
    rest = next;
  }
  let small = <u32>rest;
  if (base === 36) {
    do {
      const next = small / 36;
      store<u8>(--at, digitOf(small - next * 36));
      small = next;
    } while (small !== 0);
  } else {
    do {
      const next = small / 10;
      store<u8>(--at, <u8>(48 + small - next * 10));
      small = next;
    } while (small !== 0);
  }
  putBytes(at, end - at);
}

function digitOf(value: u32): u8 {
  return <u8>(value < 10 ? 48 + value : 87 + value);
}

/** The text `[from, to)` as the inside of a JSON string, escaped like `JSON.stringify` does. It must be valid UTF-8. */
export function putEscaped(from: u32, to: u32): void {
  let at = from;
  let written = out;
  while (at < to) {
    const bytes = v128.load(at);
    v128.store(written, bytes);
    const special = specialBytes(bytes);
    const left = to - at;
    const clean: u32 = v128.any_true(special) ? <u32>ctz(i8x16.bitmask(special)) : 16;
    if (clean >= left) {
      written += left;
      break;
    }
    at += clean;
    written += clean;
    if (clean < 16) written = putEscape(written, load<u8>(at++));
  }
  out = written;
}

/** The escape of a byte that needs one; returns the position after it. */
export function putEscape(at: u32, byte: u8): u32 {
  const letter = shortEscape(byte);
  store<u8>(at, BACKSLASH);
  if (letter !== 0) {
    store<u8>(at + 1, letter);
    return at + 2;
  }
  store<u32>(at + 1, 0x30303075); // u000
  store<u8>(at + 4, 48 + (byte >> 4));
  store<u8>(at + 5, digitOf(byte & 15));
  return at + 6;
}

function shortEscape(byte: u8): u8 {
  switch (byte) {
    case QUOTE:
    case BACKSLASH:
      return byte;
    case 8:
      return 98; // b
    case 9:
      return 116; // t
    case 10:
      return 110; // n
    case 12:
      return 102; // f
    case 13:
      return 114; // r
    default:
      return 0;
  }
}

/** The first such byte in `[from, to)`, or `to`. */
export function findByte(from: u32, to: u32, byte: u8): u32 {
  const wanted = i8x16.splat(byte);
  for (let at = from; at < to; at += 16) {
    const hits = i8x16.eq(v128.load(at), wanted);
    if (v128.any_true(hits)) return min(to, at + <u32>ctz(i8x16.bitmask(hits)));
  }
  return to;
}
