/*
 * An inflater (RFC 1951) that can stop between any two symbols and resume there later, also in another instance: the
 * position is a bit of the input, and `openBlock` restores the codes that apply there. Nothing is allocated. In
 * AssemblyScript: `npm run kernel` compiles it to src/kernel/inflate-wasm.ts, which src/gzip loads.
 */

// The inflater reads up to 16 bytes beyond the input and writes up to 300 beyond its limit.
export const MEMORY_BYTES: u32 = 393216;
const TABLES_END: u32 = 28672;
export const INPUT: u32 = TABLES_END;
export const INPUT_BYTES: u32 = 65536;
export const OUTPUT: u32 = 98304;
export const OUTPUT_END: u32 = MEMORY_BYTES - 512;
const WINDOW_BYTES: u32 = 32768;

// Return codes of `run` and `openBlock`.
export const DONE: i32 = 0;
export const NEEDS_INPUT: i32 = 1;
export const FULL: i32 = 2;
export const BAD_BLOCK_TYPE: i32 = 3;
export const BAD_STORED_LENGTH: i32 = 4;
export const BAD_CODES: i32 = 5;
export const BAD_SYMBOL: i32 = 6;
export const BAD_DISTANCE: i32 = 7;

/** The next byte of the input, and how many of its bits are consumed. */
export let next: u32 = INPUT;
export let used: u32 = 0;
/** End of the output, and the oldest byte of it that a match may refer to. */
export let out: u32 = OUTPUT;
export let oldest: u32 = OUTPUT;

/** Moves to `held` bits before the byte at `at`. */
function moveTo(at: u32, held: u32): void {
  next = at - ((held + 7) >> 3);
  used = (8 - (held & 7)) & 7;
}

function putOut(end: u32): void {
  out = end;
}

/** Makes earlier output unreachable for matches. */
function forget(): void {
  oldest = out;
}

/** Makes room for output, keeping one window of it. */
export function slide(): void {
  if (out <= OUTPUT + WINDOW_BYTES) return;
  const by = out - OUTPUT - WINDOW_BYTES;
  memory.copy(OUTPUT, OUTPUT + by, WINDOW_BYTES);
  out -= by;
  oldest = oldest > OUTPUT + by ? oldest - by : OUTPUT;
}

/* A slow, careful bit reader for block headers and the end of the input. */

let at: u32 = 0;
let bits: u64 = 0;
let count: u32 = 0;
/** More bits were requested than are available; bits taken since then read as 0. */
let ranOut: bool = false;

/** Starts at the byte `from`, of which some bits are already consumed. */
function startBits(from: u32, used: u32): void {
  at = from;
  bits = 0;
  count = 0;
  ranOut = false;
  if (used === 0) return;
  bits = <u64>load<u8>(at++) >> used;
  count = 8 - used;
}

/** At least 56 bits, or all that are left. */
function fillBits(end: u32): void {
  while (count <= 56 && at < end) {
    bits |= (<u64>load<u8>(at++)) << count;
    count += 8;
  }
}

function take(wanted: u32, end: u32): u32 {
  if (count < wanted) fillBits(end);
  if (count < wanted) {
    ranOut = true;
    return 0;
  }
  const value = <u32>bits & ((1 << wanted) - 1);
  bits >>= wanted;
  count -= wanted;
  return value;
}

/* Tables for the prefix codes of a block, built from the code lengths (RFC 1951, 3.2.2). */

// Memory layout, with room in each table for the worst codes.
const LENGTHS: u32 = 2048;
const COUNTS: u32 = 2560;
const CODES: u32 = 2688;
const LENGTH_CODES: u32 = 3072;
const LITERALS: u32 = 4096;
const DISTANCES: u32 = 21504;

// Bits looked up at once; longer codes are rare and need a second lookup.
const LITERAL_BITS: u32 = 11;
const DISTANCE_BITS: u32 = 9;
const LENGTH_CODE_BITS: u32 = 7;
const LONGEST: u32 = 15;

/*
 * A table entry. Bits 0-5: the bits consumed, extra bits included; 8-13: the length of the code alone; 16-31: the
 * literal, or the base to which the extra bits are added. A 64-bit shift uses six bits only, so an entry can serve as
 * its own shift count.
 */
const LITERAL: u32 = 0x8000;
/** A second table (SECOND), the end of the block (value 0) or an undefined code (value 1). */
const SPECIAL: u32 = 0x4000;
/** Two literals; bits 8-13 are the code of the first. */
const TWO: u32 = 0x80;
/** Bits 0-5 are the width of the second table, the value is its address. */
const SECOND: u32 = 0x40;
const NO_MEANING: u32 = SPECIAL | (1 << 16);

/** The fixed codes of RFC 1951 (3.2.6). */
function buildFixedCodes(): void {
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
function readCodes(end: u32): bool {
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

/* Decoding symbols in the middle of the input. */

/** Decodes symbols while there is more input than one step can consume. Everything is held in locals for speed. */
function inflateFast(end: u32, limit: u32): i32 {
  const safe = end - 16;
  const reach = oldest;
  let at = next;
  let to = out;
  let buffer: u64 = 0;
  let held: u32 = 0;
  let result = FULL;
  if (used !== 0) {
    buffer = <u64>load<u8>(at++) >> used;
    held = 8 - used;
  }
  while (to < limit) {
    if (at > safe) {
      result = NEEDS_INPUT;
      break;
    }
    // At least 56 bits: three literal lookups, or a match (48).
    buffer |= load<u64>(at) << held;
    at += (63 - held) >> 3;
    held |= 56;
    let entry = load<u32>(LITERALS + ((<u32>buffer & ((1 << LITERAL_BITS) - 1)) << 2));
    if ((entry & LITERAL) !== 0) {
      store<u16>(to, <u16>(entry >> 16));
      to += 1 + ((entry >> 7) & 1);
      buffer >>= <u64>entry;
      held -= entry & 63;
      entry = load<u32>(LITERALS + ((<u32>buffer & ((1 << LITERAL_BITS) - 1)) << 2));
      if ((entry & LITERAL) !== 0) {
        store<u16>(to, <u16>(entry >> 16));
        to += 1 + ((entry >> 7) & 1);
        buffer >>= <u64>entry;
        held -= entry & 63;
        entry = load<u32>(LITERALS + ((<u32>buffer & ((1 << LITERAL_BITS) - 1)) << 2));
        if ((entry & LITERAL) !== 0) {
          store<u16>(to, <u16>(entry >> 16));
          to += 1 + ((entry >> 7) & 1);
          buffer >>= <u64>entry;
          held -= entry & 63;
          continue;
        }
      }
      buffer |= load<u64>(at) << held;
      at += (63 - held) >> 3;
      held |= 56;
    }
    if ((entry & SPECIAL) !== 0) {
      if ((entry & SECOND) !== 0) entry = second(LITERALS, LITERAL_BITS, entry, buffer);
      if ((entry & LITERAL) !== 0) {
        store<u8>(to++, <u8>(entry >> 16));
        buffer >>= <u64>entry;
        held -= entry & 63;
        continue;
      }
      if ((entry & SPECIAL) !== 0) {
        result = entry >> 16 === 0 ? DONE : BAD_SYMBOL;
        buffer >>= <u64>entry;
        held -= entry & 63;
        break;
      }
    }
    const length = (entry >> 16) + extraBits(buffer, entry);
    buffer >>= <u64>entry;
    held -= entry & 63;
    entry = load<u32>(DISTANCES + ((<u32>buffer & ((1 << DISTANCE_BITS) - 1)) << 2));
    if ((entry & SECOND) !== 0) entry = second(DISTANCES, DISTANCE_BITS, entry, buffer);
    if ((entry & SPECIAL) !== 0) {
      result = BAD_SYMBOL;
      break;
    }
    const distance = (entry >> 16) + extraBits(buffer, entry);
    buffer >>= <u64>entry;
    held -= entry & 63;
    let from = to - distance;
    if (from < reach) {
      result = BAD_DISTANCE;
      break;
    }
    const stop = to + length;
    if (distance >= 16) {
      do {
        v128.store(to, v128.load(from));
        from += 16;
        to += 16;
      } while (to < stop);
    } else if (distance === 1) {
      const same = i8x16.splat(load<u8>(from));
      do {
        v128.store(to, same);
        to += 16;
      } while (to < stop);
    } else {
      // Only as many bytes as lie between source and target are valid yet.
      do {
        v128.store(to, v128.load(from));
        from += distance;
        to += distance;
      } while (to < stop);
    }
    to = stop;
  }
  moveTo(at, held);
  putOut(to);
  return result;
}

function second(table: u32, width: u32, pointer: u32, buffer: u64): u32 {
  const index = <u32>(buffer >> width) & ((1 << (pointer & 63)) - 1);
  return load<u32>(table + (((pointer >> 16) + index) << 2));
}

function extraBits(buffer: u64, entry: u32): u32 {
  return <u32>((buffer & (((<u64>1) << (<u64>entry)) - 1)) >> <u64>(entry >> 8));
}

/* Decodes the last symbols of the input, one at a time and never beyond its end. */

/** Decodes all symbols that are complete. An entry found with bits beyond the end is longer than the bits available. */
function inflateLast(end: u32, limit: u32): i32 {
  startBits(next, used);
  let result = FULL;
  while (out < limit) {
    result = oneSymbol(end);
    if (result !== FULL) break;
  }
  moveTo(at, count);
  return result;
}

/** Returns FULL after one more symbol. */
function oneSymbol(end: u32): i32 {
  fillBits(end);
  let entry = load<u32>(LITERALS + ((<u32>bits & ((1 << LITERAL_BITS) - 1)) << 2));
  if ((entry & SECOND) !== 0) entry = second(LITERALS, LITERAL_BITS, entry, bits);
  if ((entry & LITERAL) !== 0) {
    const taken = (entry & TWO) !== 0 ? (entry >> 8) & 63 : entry & 63;
    if (taken > count) return NEEDS_INPUT;
    take(taken, end);
    store<u8>(out, <u8>(entry >> 16));
    putOut(out + 1);
    return FULL;
  }
  if ((entry & 63) > count) return NEEDS_INPUT;
  if ((entry & SPECIAL) !== 0) {
    take(entry & 63, end);
    return entry >> 16 === 0 ? DONE : BAD_SYMBOL;
  }
  const length = (entry >> 16) + extraBits(bits, entry);
  const behind = bits >> <u64>entry;
  let far = load<u32>(DISTANCES + ((<u32>behind & ((1 << DISTANCE_BITS) - 1)) << 2));
  if ((far & SECOND) !== 0) far = second(DISTANCES, DISTANCE_BITS, far, behind);
  if ((entry & 63) + (far & 63) > count) return NEEDS_INPUT;
  if ((far & SPECIAL) !== 0) return BAD_SYMBOL;
  const from = out - (far >> 16) - extraBits(behind, far);
  if (from < oldest) return BAD_DISTANCE;
  take((entry & 63) + (far & 63), end);
  for (let i: u32 = 0; i < length; i++) store<u8>(out + i, load<u8>(from + i));
  putOut(out + length);
  return FULL;
}

const BETWEEN_BLOCKS: u32 = 0;
const IN_STORED: u32 = 1;
const IN_CODES: u32 = 2;

/** File offset that corresponds to address 0, and the bit of the file where the current (or next) block starts. */
let origin: f64 = 0;
export let blockAt: f64 = 0;
/** Bytes left in a stored block. */
export let stored: u32 = 0;
let state: u32 = BETWEEN_BLOCKS;
let lastBlock: bool = false;
let fixedBuilt: bool = false;

/** Input continues at a byte of which some bits are already consumed. */
export function seat(from: u32, bitsUsed: u32, addressZero: f64): void {
  moveTo(bitsUsed === 0 ? from : from + 1, (8 - bitsUsed) & 7);
  origin = addressZero;
}

/** Starts a new stream at the current position; earlier output is out of its reach. */
export function begin(): void {
  state = BETWEEN_BLOCKS;
  forget();
}

/** Runs until the stream ends, the output reaches `limit`, or more input is needed. `ended`: there is no more input. */
export function run(end: u32, ended: bool, limit: u32): i32 {
  while (true) {
    if (state === BETWEEN_BLOCKS) {
      const opened = openBlock(end);
      if (opened !== DONE) return opened;
    }
    let result = state === IN_STORED ? copyStored(end, limit) : inflateFast(end, limit);
    if (result === NEEDS_INPUT && ended && state === IN_CODES) result = inflateLast(end, limit);
    if (result !== DONE) return result;
    state = BETWEEN_BLOCKS;
    if (lastBlock) return DONE;
  }
}

/** Reads the header of a block. The position does not change unless the whole header is available and valid. */
export function openBlock(end: u32): i32 {
  blockAt = (origin + <f64>next) * 8 + <f64>used;
  state = BETWEEN_BLOCKS;
  startBits(next, used);
  lastBlock = take(1, end) === 1;
  const kind = take(2, end);
  const result = kind === 0 ? openStored(end) : openCodes(kind, end);
  if (ranOut) return NEEDS_INPUT;
  if (result !== DONE) return result;
  moveTo(at, count);
  state = kind === 0 ? IN_STORED : IN_CODES;
  return DONE;
}

function openStored(end: u32): i32 {
  take(count & 7, end);
  stored = take(16, end);
  return take(16, end) === (stored ^ 0xffff) ? DONE : BAD_STORED_LENGTH;
}

function openCodes(kind: u32, end: u32): i32 {
  if (kind === 3) return BAD_BLOCK_TYPE;
  if (kind === 1) {
    if (!fixedBuilt) buildFixedCodes();
    fixedBuilt = true;
    return DONE;
  }
  fixedBuilt = false;
  return readCodes(end) ? DONE : BAD_CODES;
}

function copyStored(end: u32, limit: u32): i32 {
  const room = limit > out ? limit - out : 0;
  const bytes = min(stored, min(end - next, room));
  memory.copy(out, next, bytes);
  moveTo(next + bytes, 0);
  putOut(out + bytes);
  stored -= bytes;
  if (stored === 0) return DONE;
  return out >= limit ? FULL : NEEDS_INPUT;
}
