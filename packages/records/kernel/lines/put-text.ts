/* Writes what strings of JSON stand for. Part of ../line-text.ts. */
import { specialBytes } from './bytes';

const QUOTE: u8 = 34;
const BACKSLASH: u8 = 92;

/** Where the next byte is written. */
let out: u32 = 0;

export function setOutput(at: u32): void {
  out = at;
}

export function textEnd(): u32 {
  return out;
}

export function putByte(byte: u8): void {
  store<u8>(out++, byte);
}

/** Writes `length` bytes of memory. May write up to 15 bytes more, which the next ones replace. */
export function putBytes(from: u32, length: u32): void {
  for (let done: u32 = 0; done < length; done += 16) v128.store(out + done, v128.load(from + done));
  out += length;
}

/** Where the first line of the text that was written last ended; 0 if it has only one. */
let firstEnd: u32 = 0;

export function firstLineEnd(): u32 {
  return firstEnd;
}

/**
 * Writes what `[from, to)`, the inside of a string that was read, stands for. `false` if an escape in it is beyond ASCII:
 * nodes write such characters as they are, but for halves of pairs.
 */
export function putText(from: u32, to: u32): bool {
  let at = from;
  let written = out;
  firstEnd = 0;
  while (at < to) {
    const bytes = v128.load(at);
    v128.store(written, bytes);
    const special = specialBytes(bytes);
    const left = to - at;
    const low = i64x2.extract_lane(special, 0);
    // 64 bits that are all zero have 64 zeros.
    const clean: u32 = low !== 0 ? <u32>ctz(low) >> 3 : 8 + (<u32>ctz(i64x2.extract_lane(special, 1)) >> 3);
    if (clean >= left) {
      written += left;
      break;
    }
    at += clean;
    written += clean;
    if (clean === 16) continue;
    const byte = unescaped(at);
    if (byte >= 0x80) return false;
    if (byte === 10 && firstEnd === 0) firstEnd = written;
    store<u8>(written++, <u8>byte);
    at += load<u8>(at + 1) === 117 ? 6 : 2;
  }
  out = written;
  return true;
}

/** What the escape at `at` stands for; 0x80 if it is none of ASCII. The text was validated before. */
function unescaped(at: u32): u32 {
  switch (load<u8>(at + 1)) {
    case QUOTE:
      return QUOTE;
    case BACKSLASH:
      return BACKSLASH;
    case 47:
      return 47;
    case 98: // b
      return 8;
    case 102: // f
      return 12;
    case 110: // n
      return 10;
    case 114: // r
      return 13;
    case 116: // t
      return 9;
    default: {
      const value = (hex(at + 2) << 12) | (hex(at + 3) << 8) | (hex(at + 4) << 4) | hex(at + 5);
      return value < 0x80 ? value : 0x80;
    }
  }
}

function hex(at: u32): u32 {
  const byte = <u32>load<u8>(at);
  return byte <= 57 ? byte - 48 : (byte | 0x20) - 87;
}
