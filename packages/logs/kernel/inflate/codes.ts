/*
 * Tables for the prefix codes of a block, built from the code lengths (RFC 1951, 3.2.2). In AssemblyScript, part of
 * ../inflate.ts; in a subfolder because every file next to that one becomes a kernel.
 */
import { bits, fillBits, ranOut, take } from './bits';

// Memory layout, with room in each table for the worst codes.
const LENGTHS: u32 = 2048;
const COUNTS: u32 = 2560;
const CODES: u32 = 2688;
const LENGTH_CODES: u32 = 3072;
export const LITERALS: u32 = 4096;
export const DISTANCES: u32 = 21504;
export const TABLES_END: u32 = 28672;

// Bits looked up at once; longer codes are rare and need a second lookup.
export const LITERAL_BITS: u32 = 11;
export const DISTANCE_BITS: u32 = 9;
const LENGTH_CODE_BITS: u32 = 7;
const LONGEST: u32 = 15;

/*
 * A table entry. Bits 0-5: the bits consumed, extra bits included; 8-13: the length of the code alone; 16-31: the
 * literal, or the base to which the extra bits are added. A 64-bit shift uses six bits only, so an entry can serve as
 * its own shift count.
 */
export const LITERAL: u32 = 0x8000;
/** A second table (SECOND), the end of the block (value 0) or an undefined code (value 1). */
export const SPECIAL: u32 = 0x4000;
/** Two literals; bits 8-13 are the code of the first. */
export const TWO: u32 = 0x80;
/** Bits 0-5 are the width of the second table, the value is its address. */
export const SECOND: u32 = 0x40;
const NO_MEANING: u32 = SPECIAL | (1 << 16);

/** The fixed codes of RFC 1951 (3.2.6). */
export function buildFixedCodes(): void {
  memory.fill(LENGTHS, 8, 144);
  memory.fill(LENGTHS + 144, 9, 112);
  memory.fill(LENGTHS + 256, 7, 24);
  memory.fill(LENGTHS + 280, 8, 8);
  memory.fill(LENGTHS + 288, 5, 32);
  buildCodes(288, 32);
}

/** The order in which the lengths of the code-length code are stored (3.2.7). */
const LENGTH_ORDER = memory.data<u8>([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]);

/** Builds the dynamic codes of a block. False when they are invalid or the input ran out. */
export function readCodes(end: u32): bool {
  const literals = take(5, end) + 257;
  const distances = take(5, end) + 1;
  const stored = take(4, end) + 4;
  if (literals > 286 || distances > 30) return false;
  memory.fill(LENGTHS, 0, 19);
  for (let i: u32 = 0; i < stored; i++) store<u8>(LENGTHS + load<u8>(LENGTH_ORDER + i), <u8>take(3, end));
  if (ranOut || !build(LENGTHS, 19, LENGTH_CODES, LENGTH_CODE_BITS)) return false;
  if (!readLengths(literals + distances, end)) return false;
  // A block without an end-of-block code is invalid.
  return load<u8>(LENGTHS + 256) !== 0 && buildCodes(literals, distances);
}

function readLengths(wanted: u32, end: u32): bool {
  let known: u32 = 0;
  while (known < wanted) {
    fillBits(end);
    const entry = load<u32>(LENGTH_CODES + ((<u32>bits & ((1 << LENGTH_CODE_BITS) - 1)) << 2));
    take(entry & 63, end);
    let length = entry >> 16;
    let times: u32 = 1;
    if (length === 16) {
      if (known === 0) return false;
      length = load<u8>(LENGTHS + known - 1);
      times = 3 + take(2, end);
    } else if (length > 16) {
      times = length === 17 ? 3 + take(3, end) : 11 + take(7, end);
      length = 0;
    }
    if (ranOut || known + times > wanted) return false;
    memory.fill(LENGTHS + known, <u8>length, times);
    known += times;
  }
  return true;
}

/**
 * Builds the tables of the literal/length codes and the distance codes, whose code lengths are stored back to back in
 * LENGTHS.
 */
function buildCodes(literals: u32, distances: u32): bool {
  if (!build(LENGTHS, literals, LITERALS, LITERAL_BITS)) return false;
  // Backwards, because the shorter index that is read must still hold one literal.
  for (let i: i32 = (1 << LITERAL_BITS) - 1; i >= 0; i--) {
    const first = load<u32>(LITERALS + (i << 2));
    if ((first & LITERAL) === 0) continue;
    const second = load<u32>(LITERALS + ((i >> (first & 63)) << 2));
    const both = (first & 63) + (second & 63);
    if ((second & LITERAL) === 0 || both > LITERAL_BITS) continue;
    store<u32>(LITERALS + (i << 2), (first & 0xffffff00) | ((second & 0xff0000) << 8) | TWO | both);
  }
  return build(LENGTHS + literals, distances, DISTANCES, DISTANCE_BITS);
}

/**
 * Builds one table. False for lengths that are not a prefix code; like zlib, a code with at most one symbol may be
 * incomplete.
 */
function build(lengths: u32, symbols: u32, table: u32, width: u32): bool {
  memory.fill(COUNTS, 0, 64);
  for (let i: u32 = 0; i < symbols; i++) {
    const slot = COUNTS + ((<u32>load<u8>(lengths + i)) << 2);
    store<u32>(slot, load<u32>(slot) + 1);
  }
  store<u32>(COUNTS, 0);
  let left: i32 = 1;
  let longest: u32 = 0;
  let code: u32 = 0;
  for (let length: u32 = 1; length <= LONGEST; length++) {
    const number = load<u32>(COUNTS + (length << 2));
    code = (code + load<u32>(COUNTS + ((length - 1) << 2))) << 1;
    store<u32>(CODES + (length << 2), code);
    left = (left << 1) - <i32>number;
    if (left < 0) return false;
    if (number !== 0) longest = length;
  }
  if (left > 0 && (longest > 1 || width === LENGTH_CODE_BITS)) return false;
  const size: u32 = 1 << width;
  if (left > 0) for (let i: u32 = 0; i < size; i++) store<u32>(table + (i << 2), NO_MEANING | (1 << 8) | 1);
  const secondWidth = longest > width ? longest - width : 0;
  // An entry of 0 has no second table yet.
  if (secondWidth !== 0) memory.fill(table, 0, size << 2);
  let free = size;
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const length = <u32>load<u8>(lengths + symbol);
    if (length === 0) continue;
    const slot = CODES + (length << 2);
    const start = reversed(load<u32>(slot), length);
    store<u32>(slot, load<u32>(slot) + 1);
    const entry = entryOf(symbol, width) + (length << 8) + length;
    if (length <= width) {
      for (let i = start; i < size; i += 1 << length) store<u32>(table + (i << 2), entry);
      continue;
    }
    const pointer = table + ((start & (size - 1)) << 2);
    if (load<u32>(pointer) === 0) {
      store<u32>(pointer, SPECIAL | SECOND | (free << 16) | secondWidth);
      free += 1 << secondWidth;
    }
    const second = table + ((load<u32>(pointer) >> 16) << 2);
    for (let i = start >> width; i < <u32>(1 << secondWidth); i += 1 << (length - width)) {
      store<u32>(second + (i << 2), entry);
    }
  }
  return true;
}

/** The meaning of a symbol, without its code: its base value and the number of extra bits (RFC 1951, 3.2.5). */
function entryOf(symbol: u32, width: u32): u32 {
  if (width === LENGTH_CODE_BITS) return symbol << 16;
  if (width === DISTANCE_BITS) {
    if (symbol >= 30) return NO_MEANING;
    if (symbol < 4) return (symbol + 1) << 16;
    const extra = (symbol >> 1) - 1;
    return ((((2 + (symbol & 1)) << extra) + 1) << 16) | extra;
  }
  if (symbol < 256) return LITERAL | (symbol << 16);
  if (symbol === 256) return SPECIAL;
  if (symbol < 265) return (symbol - 254) << 16;
  if (symbol === 285) return 258 << 16;
  if (symbol > 285) return NO_MEANING;
  const extra = ((symbol - 257) >> 2) - 1;
  return ((((4 + ((symbol - 257) & 3)) << extra) + 3) << 16) | extra;
}

/** Codes are packed starting with their most significant bit, everything else with the least significant. */
function reversed(code: u32, length: u32): u32 {
  let flipped = ((code & 0x5555) << 1) | ((code >> 1) & 0x5555);
  flipped = ((flipped & 0x3333) << 2) | ((flipped >> 2) & 0x3333);
  flipped = ((flipped & 0x0f0f) << 4) | ((flipped >> 4) & 0x0f0f);
  flipped = ((flipped & 0x00ff) << 8) | (flipped >> 8);
  return flipped >> (16 - length);
}
