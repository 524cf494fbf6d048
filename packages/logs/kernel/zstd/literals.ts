/* The literals of a block (RFC 8878, 3.1.1.3.1). Part of ../zstd.ts. */
import { highBit, left, peek, skip, startBackward, take } from './bits';
import { entryAt, log, readTable } from './fse';
import {
  BAD_CODES,
  BAD_LITERALS,
  DONE,
  HUFFMAN_TABLE,
  LITERALS,
  MAX_BLOCK_BYTES,
  WEIGHT_TABLE,
  WEIGHTS,
} from './state';

/** Bits of the longest code; 0: there is none to be used again. */
let huffmanBits: u32 = 0;

/** Number of literals, and where the section ends. */
export let literals: u32 = 0;
export let literalsEnd: u32 = 0;

export function forgetCodes(): void {
  huffmanBits = 0;
}

/** Reads the section to LITERALS. */
export function readLiterals(from: u32, end: u32): i32 {
  const head = load<u32>(from);
  const kind = head & 3;
  const format = (head >> 2) & 3;
  if (kind < 2) {
    const headBytes: u32 = format === 1 ? 2 : format === 3 ? 3 : 1;
    literals = format === 1 ? (head >> 4) & 0xfff : format === 3 ? (head >> 4) & 0xfffff : (head >> 3) & 0x1f;
    const bytes = kind === 0 ? literals : 1;
    literalsEnd = from + headBytes + bytes;
    if (literals > MAX_BLOCK_BYTES || literalsEnd > end) return BAD_LITERALS;
    if (kind === 0) memory.copy(LITERALS, from + headBytes, literals);
    else memory.fill(LITERALS, load<u8>(from + headBytes), literals);
    return DONE;
  }
  const headBytes: u32 = format < 2 ? 3 : format + 2;
  const sizeBits: u64 = format < 2 ? 10 : format === 2 ? 14 : 18;
  const sizes = load<u64>(from) >> 4;
  const mask = ((<u64>1) << sizeBits) - 1;
  literals = <u32>(sizes & mask);
  literalsEnd = from + headBytes + <u32>((sizes >> sizeBits) & mask);
  if (literals > MAX_BLOCK_BYTES || literalsEnd > end) return BAD_LITERALS;
  let at = from + headBytes;
  if (kind === 2) {
    at = readCodes(at, literalsEnd);
    if (at === 0) return BAD_CODES;
  } else if (huffmanBits === 0) return BAD_CODES;
  if (format === 0) return decodeStream(at, literalsEnd, LITERALS, literals) ? DONE : BAD_LITERALS;
  return decodeFour(at, literalsEnd) ? DONE : BAD_LITERALS;
}

function decodeFour(from: u32, end: u32): bool {
  if (from + 6 > end) return false;
  const part: u32 = (literals + 3) >> 2;
  if (part * 3 > literals) return false;
  let at = from + 6;
  for (let i: u32 = 0; i < 3; i++) {
    const next = at + <u32>load<u16>(from + 2 * i);
    if (next > end || !decodeStream(at, next, LITERALS + i * part, part)) return false;
    at = next;
  }
  return decodeStream(at, end, LITERALS + part * 3, literals - part * 3);
}

function decodeStream(from: u32, end: u32, to: u32, count: u32): bool {
  if (!startBackward(from, end)) return false;
  const bits = huffmanBits;
  const last = to + count;
  for (let at = to; at < last; at++) {
    const entry = <u32>load<u16>(HUFFMAN_TABLE + (peek(bits) << 1));
    store<u8>(at, <u8>entry);
    skip(entry >> 8);
  }
  return left === 0;
}

/** Returns where the codes end; 0 if they are invalid. */
function readCodes(from: u32, end: u32): u32 {
  huffmanBits = 0;
  if (from >= end) return 0;
  const head = <u32>load<u8>(from);
  const codesEnd = from + 1 + (head < 128 ? head : (head - 126) >> 1);
  if (codesEnd > end) return 0;
  const count = head < 128 ? readWeights(from + 1, codesEnd) : copyWeights(from + 1, head - 127);
  return count > 0 && buildCodes(count) ? codesEnd : 0;
}

function copyWeights(from: u32, count: u32): u32 {
  for (let i: u32 = 0; i < count; i++) {
    const pair = <u32>load<u8>(from + (i >> 1));
    store<u8>(WEIGHTS + i, <u8>((i & 1) === 0 ? pair >> 4 : pair & 15));
  }
  return count;
}

/** Two states take turns until the bits run out. */
function readWeights(from: u32, end: u32): u32 {
  const tableBytes = readTable(from, end, 6, 255, WEIGHT_TABLE);
  if (tableBytes === 0 || !startBackward(from + tableBytes, end)) return 0;
  let needs = log;
  let nextNeeds = log;
  let state: u32 = 0;
  let nextState: u32 = 0;
  let count: u32 = 0;
  while (left >= <i32>needs) {
    if (count >= 255) return 0;
    const entry = entryAt(WEIGHT_TABLE, state + take(needs));
    store<u8>(WEIGHTS + count++, <u8>entry);
    state = nextState;
    needs = nextNeeds;
    nextState = entry >> 16;
    nextNeeds = (entry >> 8) & 255;
  }
  return count;
}

/** The last weight is not stored: it makes the sum a power of two. */
function buildCodes(count: u32): bool {
  let sum: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const weight = <u32>load<u8>(WEIGHTS + i);
    if (weight > 11) return false;
    sum += (1 << weight) >> 1;
  }
  if (sum === 0) return false;
  const bits = highBit(sum) + 1;
  const rest = (1 << bits) - sum;
  if (bits > 11 || (rest & (rest - 1)) !== 0) return false;
  store<u8>(WEIGHTS + count, <u8>(highBit(rest) + 1));
  let at = HUFFMAN_TABLE;
  for (let weight: u32 = 1; weight <= bits; weight++) {
    for (let symbol: u32 = 0; symbol <= count; symbol++) {
      if (<u32>load<u8>(WEIGHTS + symbol) !== weight) continue;
      const entry = symbol | ((bits + 1 - weight) << 8);
      const end = at + (1 << weight);
      for (; at < end; at += 2) store<u16>(at, <u16>entry);
    }
  }
  huffmanBits = bits;
  return true;
}
