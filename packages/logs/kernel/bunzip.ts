/*
 * A decoder of bzip2 blocks. A block is decoded in steps of a few milliseconds, and then written in pieces, since a
 * small one may be a long text. In AssemblyScript: `npm run kernel` compiles it to src/kernel/bunzip-wasm.ts, which src/packed loads.
 */

// Constants of the module are below 1024; a table of checksums follows.
const COUNTS: u32 = 2048;
/** Bytes that occur in the block, and their order by last use. */
const IN_USE: u32 = 3072;
const ORDER: u32 = 3328;
/** Up to 18,002 selectors are of use; 32,767 may be stored. */
const SELECTORS: u32 = 4096;
const LENGTHS: u32 = 36864;
/** For each of the six groups: limits, bases and symbols by code length. */
const CODES: u32 = 37376;
const CODES_BYTES: u32 = 1024;
/** Compressed blocks; the longest has 900,000 symbols of 20 bits. Up to 16 bytes beyond are read. */
export const INPUT: u32 = 49152;
export const INPUT_BYTES: u32 = 2424832;
export const OUTPUT: u32 = INPUT + INPUT_BYTES + 64;
const OUTPUT_BYTES: u32 = 131072;
/** A block, 4 bytes for each of its 900,000. */
const TEXT: u32 = OUTPUT + OUTPUT_BYTES;
export const MEMORY_BYTES: u32 = TEXT + 3600064;

/* A bit reader, highest bit first. */

/** Position and end, in bits. */
let bitAt: u32 = 0;
let end: u32 = 0;
/** More bits were requested than are available. */
let ranOut: bool = false;

function startBits(from: u32, inputEnd: u32): void {
  bitAt = from;
  end = inputEnd;
  ranOut = false;
}

/** The next bits, at most 32, without taking them. */
function peek(count: u32): u32 {
  const value = bswap<u64>(load<u64>(bitAt >> 3)) << (<u64>(bitAt & 7));
  return <u32>(value >> <u64>(64 - count));
}

function skip(count: u32): void {
  bitAt += count;
  if (bitAt > end) ranOut = true;
}

function bits(count: u32): u32 {
  const value = peek(count);
  skip(count);
  return value;
}

/* The Huffman codes of a block: up to six sets, of which each 50 symbols select one. */

const MAX_BITS: u32 = 20;
const GROUP_SYMBOLS: u32 = 50;
const MAX_SELECTORS: u32 = 18002;

// A set of codes: for each length the first code beyond it, shifted to MAX_BITS, and what turns a code into an index.
const LIMITS: u32 = 0;
const BASES: u32 = 96;
const SYMBOLS: u32 = 192;

let symbolsInUse: u32 = 0;
let groups: u32 = 0;
let selectors: u32 = 0;
let nextSelector: u32 = 0;
let leftInGroup: u32 = 0;
let codes: u32 = CODES;

function readSymbolsInUse(): bool {
  const ranges = bits(16);
  symbolsInUse = 0;
  for (let range: u32 = 0; range < 16; range++) {
    if ((ranges & (0x8000 >> range)) === 0) continue;
    const used = bits(16);
    for (let i: u32 = 0; i < 16; i++) {
      if ((used & (0x8000 >> i)) !== 0) store<u8>(IN_USE + symbolsInUse++, <u8>(range * 16 + i));
    }
  }
  return symbolsInUse > 0;
}

function readCodes(): bool {
  groups = bits(3);
  selectors = bits(15);
  if (groups < 2 || groups > 6 || selectors === 0) return false;
  for (let i: u32 = 0; i < groups; i++) store<u8>(ORDER + i, <u8>i);
  for (let i: u32 = 0; i < selectors; i++) {
    let index: u32 = 0;
    while (bits(1) !== 0) if (++index >= groups) return false;
    if (ranOut) return false;
    const selector = load<u8>(ORDER + index);
    memory.copy(ORDER + 1, ORDER, index);
    store<u8>(ORDER, selector);
    store<u8>(SELECTORS + i, selector);
  }
  // More are never used; some programs write them.
  if (selectors > MAX_SELECTORS) selectors = MAX_SELECTORS;
  for (let group: u32 = 0; group < groups; group++) {
    if (!readLengths() || !buildCodes(CODES + group * CODES_BYTES)) return false;
  }
  return true;
}

function readLengths(): bool {
  let length = bits(5);
  for (let symbol: u32 = 0; symbol < symbolsInUse + 2; symbol++) {
    while (true) {
      if (ranOut || length < 1 || length > MAX_BITS) return false;
      if (bits(1) === 0) break;
      length = bits(1) === 0 ? length + 1 : length - 1;
    }
    store<u8>(LENGTHS + symbol, <u8>length);
  }
  return true;
}

/** False if there are more codes than their lengths allow. */
function buildCodes(to: u32): bool {
  let code: u32 = 0;
  let index: u32 = 0;
  for (let length: u32 = 1; length <= MAX_BITS; length++) {
    store<u32>(to + BASES + (length << 2), index - code);
    for (let symbol: u32 = 0; symbol < symbolsInUse + 2; symbol++) {
      if (<u32>load<u8>(LENGTHS + symbol) !== length) continue;
      store<u16>(to + SYMBOLS + (index++ << 1), <u16>symbol);
      code++;
    }
    if (code > (<u32>1) << length) return false;
    store<u32>(to + LIMITS + (length << 2), code << (MAX_BITS - length));
    code <<= 1;
  }
  return true;
}

function startSymbols(): void {
  nextSelector = 0;
  leftInGroup = 0;
}

/** Returns 0xffff for an invalid code. */
function readSymbol(): u32 {
  if (leftInGroup === 0) {
    if (nextSelector >= selectors) return 0xffff;
    codes = CODES + <u32>load<u8>(SELECTORS + nextSelector++) * CODES_BYTES;
    leftInGroup = GROUP_SYMBOLS;
  }
  leftInGroup--;
  const next = peek(MAX_BITS);
  for (let length: u32 = 1; length <= MAX_BITS; length++) {
    if (next >= load<u32>(codes + LIMITS + (length << 2))) continue;
    skip(length);
    const index = load<u32>(codes + BASES + (length << 2)) + (next >> (MAX_BITS - length));
    return <u32>load<u16>(codes + SYMBOLS + (index << 1));
  }
  return 0xffff;
}

export const DONE: i32 = 0;
export const NEEDS_INPUT: i32 = 1;
export const BAD_BLOCK: i32 = 2;
/** Blocks of bzip2 before 0.9.5 (1999). */
export const BAD_OBSOLETE: i32 = 3;
/** `resume` continues. */
export const MORE: i32 = 4;

/** Symbols decoded, or bytes sorted, in one step. */
const STEP: u32 = 65_536;

const RUN_A: u32 = 0;
const RUN_B: u32 = 1;

/** Where the decoding of a block is. */
let maxBytes: u32 = 0;
let origin: u32 = 0;
let isDecoded: bool = false;
let pausedRun: u32 = 0;
let pausedWeight: u32 = 1;
let sorted: u32 = 0;

/** Bytes of the block, and how many of them were written. */
let blockBytes: u32 = 0;
let written: u32 = 0;
let position: u32 = 0;
/** Four equal bytes in a row are followed by how often the byte is repeated. */
let previous: i32 = -1;
let equal: u32 = 0;
let repeats: u32 = 0;

let sum: u32 = 0;
let tableIsBuilt: bool = false;
const CRC_TABLE: u32 = 1024;

/** Where the input continues, in bits. */
export function bitPosition(): u32 {
  return bitAt;
}

/** Reads a number of at most 32 bits, outside of blocks. NEEDS_INPUT is to be checked by `isShort`. */
export function readBits(from: u32, end: u32, count: u32): u32 {
  startBits(from, end);
  return bits(count);
}

export function isShort(): bool {
  return ranOut;
}

/** Decodes the block that begins at bit `from`, after its checksum; `end` is the end of the input in bits. */
export function decode(from: u32, end: u32, most: u32): i32 {
  startBits(from, end);
  const result = startBlock(most);
  return ranOut ? NEEDS_INPUT : result;
}

/** Continues with the block that `decode` began. */
export function resume(): i32 {
  const result = isDecoded ? sortBytes() : decodeSymbols();
  return ranOut ? NEEDS_INPUT : result;
}

function startBlock(most: u32): i32 {
  if (bits(1) !== 0) return BAD_OBSOLETE;
  origin = bits(24);
  if (!readSymbolsInUse() || !readCodes()) return BAD_BLOCK;
  memory.fill(COUNTS, 0, 1024);
  for (let i: u32 = 0; i < 256; i++) store<u8>(ORDER + i, <u8>i);
  startSymbols();
  maxBytes = most;
  isDecoded = false;
  blockBytes = 0;
  pausedRun = 0;
  pausedWeight = 1;
  return MORE;
}

function startText(): void {
  position = load<u32>(TEXT + (origin << 2)) >> 8;
  written = 0;
  previous = -1;
  equal = 0;
  repeats = 0;
  sum = 0xffffffff;
  buildCrcTable();
}

/** Undoes the Huffman codes, the move-to-front and the runs. */
function decodeSymbols(): i32 {
  const last = symbolsInUse + 1;
  let count = blockBytes;
  let run = pausedRun;
  let weight = pausedWeight;
  for (let left = STEP; left > 0; left--) {
    const symbol = readSymbol();
    if (ranOut || symbol > last) return BAD_BLOCK;
    if (symbol <= RUN_B) {
      if (weight > maxBytes * 2) return BAD_BLOCK;
      run += symbol === RUN_A ? weight : weight << 1;
      weight <<= 1;
      continue;
    }
    if (run > 0) {
      if (run > maxBytes - count) return BAD_BLOCK;
      const byte = <u32>load<u8>(IN_USE + <u32>load<u8>(ORDER));
      store<u32>(COUNTS + (byte << 2), load<u32>(COUNTS + (byte << 2)) + run);
      for (const end = count + run; count < end; count++) store<u32>(TEXT + (count << 2), byte);
      run = 0;
      weight = 1;
    }
    if (symbol === last) {
      blockBytes = count;
      return startSorting();
    }
    if (count >= maxBytes) return BAD_BLOCK;
    const index = symbol - 1;
    const place = load<u8>(ORDER + index);
    memory.copy(ORDER + 1, ORDER, index);
    store<u8>(ORDER, place);
    const byte = <u32>load<u8>(IN_USE + <u32>place);
    store<u32>(COUNTS + (byte << 2), load<u32>(COUNTS + (byte << 2)) + 1);
    store<u32>(TEXT + (count++ << 2), byte);
  }
  blockBytes = count;
  pausedRun = run;
  pausedWeight = weight;
  return MORE;
}

function startSorting(): i32 {
  if (groups === 0 || origin >= blockBytes) return BAD_BLOCK;
  let start: u32 = 0;
  for (let byte: u32 = 0; byte < 256; byte++) {
    const count = load<u32>(COUNTS + (byte << 2));
    store<u32>(COUNTS + (byte << 2), start);
    start += count;
  }
  isDecoded = true;
  sorted = 0;
  return MORE;
}

/** The inverse of the Burrows-Wheeler transform: each byte gets the position of its successor. */
function sortBytes(): i32 {
  const end = min<u32>(blockBytes, sorted + STEP);
  for (let i = sorted; i < end; i++) {
    const counter = COUNTS + ((load<u32>(TEXT + (i << 2)) & 255) << 2);
    const to = TEXT + (load<u32>(counter) << 2);
    store<u32>(to, load<u32>(to) | (i << 8));
    store<u32>(counter, load<u32>(counter) + 1);
  }
  sorted = end;
  if (end < blockBytes) return MORE;
  startText();
  return DONE;
}

/** Writes the next piece of the text to OUTPUT. Returns its length; 0 at the end of the block. */
export function write(): u32 {
  const end = OUTPUT + OUTPUT_BYTES;
  let to = OUTPUT;
  while (to < end) {
    if (repeats > 0) {
      const count = min<u32>(repeats, end - to);
      memory.fill(to, <u8>previous, count);
      to += count;
      repeats -= count;
      continue;
    }
    if (written === blockBytes) break;
    const entry = load<u32>(TEXT + (position << 2));
    position = entry >> 8;
    written++;
    const byte = <i32>(entry & 255);
    if (equal === 4) {
      repeats = <u32>byte;
      equal = 0;
      continue;
    }
    equal = byte === previous ? equal + 1 : 1;
    previous = byte;
    store<u8>(to++, <u8>byte);
  }
  for (let at = OUTPUT; at < to; at++) {
    sum = (sum << 8) ^ load<u32>(CRC_TABLE + (((sum >> 24) ^ <u32>load<u8>(at)) << 2));
  }
  return to - OUTPUT;
}

/** The checksum of the text of the block, once it is written. */
export function blockSum(): u32 {
  return ~sum;
}

function buildCrcTable(): void {
  if (tableIsBuilt) return;
  tableIsBuilt = true;
  for (let byte: u32 = 0; byte < 256; byte++) {
    let value = byte << 24;
    for (let bit = 0; bit < 8; bit++) value = (value & 0x80000000) === 0 ? value << 1 : (value << 1) ^ 0x04c11db7;
    store<u32>(CRC_TABLE + (byte << 2), value);
  }
}
