/*
 * A decoder of LZMA chunks as LZMA2 has them, and the checksums of xz. Every distance is checked before it is used. In
 * AssemblyScript: `npm run kernel` compiles it to src/kernel/lzma-wasm.ts, which src/packed loads.
 */

/** Probabilities, of 2 bytes each. Constants of the module are below. */
const PROBS: u32 = 4096;
const CRC_TABLE: u32 = 32768;
/** One chunk; up to 16 bytes beyond it are read. */
export const INPUT: u32 = 36864;
export const INPUT_BYTES: u32 = 65536;
/** The output, of which the last dictionary is kept; how far it reaches is up to the caller. */
export const OUTPUT: u32 = 106496;
export const MEMORY_BYTES: u32 = OUTPUT;

const EVEN: u16 = 1024;

function resetProbs(count: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u16>(PROBS + (i << 1), EVEN);
}

/* CRC-64 as xz has it (ECMA-182, reflected). */

const POLYNOMIAL: u64 = ((<u64>0xc96c5795) << 32) | 0xd7870f42;

let isBuilt: bool = false;
let sum: u64 = 0;

export function startSum(): void {
  sum = ~(<u64>0);
  if (isBuilt) return;
  isBuilt = true;
  for (let byte: u32 = 0; byte < 256; byte++) {
    let value = <u64>byte;
    for (let bit = 0; bit < 8; bit++) value = (value & 1) === 0 ? value >> 1 : (value >> 1) ^ POLYNOMIAL;
    store<u64>(CRC_TABLE + (byte << 3), value);
  }
}

export function addToSum(from: u32, end: u32): void {
  let value = sum;
  for (let at = from; at < end; at++) {
    value = load<u64>(CRC_TABLE + (((<u32>value ^ <u32>load<u8>(at)) & 255) << 3)) ^ (value >> 8);
  }
  sum = value;
}

export function sumLow(): u32 {
  return <u32>~sum;
}

export function sumHigh(): u32 {
  return <u32>(~sum >> 32);
}

/* The range decoder of LZMA. */

let range: u32 = 0;
let code: u32 = 0;
/** The next byte of the input; beyond its end, zeros are read. */
let next: u32 = 0;
let end: u32 = 0;

function startRange(from: u32, inputEnd: u32): bool {
  if (inputEnd - from < 5) return false;
  range = 0xffffffff;
  code = bswap<u32>(load<u32>(from + 1));
  next = from + 5;
  end = inputEnd;
  return load<u8>(from) === 0;
}

/** At the end of a chunk nothing is left of the code. */
function codeIsZero(): bool {
  normalize();
  return code === 0;
}

function normalize(): void {
  if (range >= 0x1000000) return;
  range <<= 8;
  code = (code << 8) | (next < end ? <u32>load<u8>(next) : 0);
  next++;
}

function decodeBit(index: u32): u32 {
  normalize();
  const address = PROBS + (index << 1);
  const prob = <u32>load<u16>(address);
  const bound = (range >> 11) * prob;
  if (code < bound) {
    range = bound;
    store<u16>(address, <u16>(prob + ((2048 - prob) >> 5)));
    return 0;
  }
  range -= bound;
  code -= bound;
  store<u16>(address, <u16>(prob - (prob >> 5)));
  return 1;
}

function decodeTree(probs: u32, bits: u32): u32 {
  let symbol: u32 = 1;
  for (let i: u32 = 0; i < bits; i++) symbol = (symbol << 1) | decodeBit(probs + symbol);
  return symbol - (1 << bits);
}

/** Like a tree, with the lowest bit first. */
function decodeReverse(probs: u32, bits: u32): u32 {
  let node: u32 = 1;
  let symbol: u32 = 0;
  for (let i: u32 = 0; i < bits; i++) {
    const bit = decodeBit(probs + node);
    node = (node << 1) | bit;
    symbol |= bit << i;
  }
  return symbol;
}

function decodeDirect(bits: u32): u32 {
  let value: u32 = 0;
  for (let i: u32 = 0; i < bits; i++) {
    normalize();
    range >>= 1;
    const bit: u32 = code >= range ? 1 : 0;
    if (bit !== 0) code -= range;
    value = (value << 1) | bit;
  }
  return value;
}

export const DONE: i32 = 0;
export const FULL: i32 = 1;
export const BAD_CODE: i32 = 2;
export const BAD_DISTANCE: i32 = 3;
export const BAD_LENGTH: i32 = 4;

// Numbers of the probabilities; the names are those of the LZMA specification.
const IS_MATCH: u32 = 0;
const IS_REP: u32 = 192;
const IS_REP_G0: u32 = 204;
const IS_REP_G1: u32 = 216;
const IS_REP_G2: u32 = 228;
const IS_REP0_LONG: u32 = 240;
const POS_SLOT: u32 = 432;
const SPEC_POS: u32 = 688;
const ALIGN: u32 = 803;
const LENGTH: u32 = 819;
const REP_LENGTH: u32 = 1333;
const LITERAL: u32 = 1847;

const MIN_MATCH: u32 = 2;

/** End of the output, and the oldest byte of it that a match may refer to. */
export let out: u32 = OUTPUT;
let oldest: u32 = OUTPUT;
/** Bytes since the dictionary was reset, by whose position symbols are predicted. */
let processed: u32 = 0;

let literalContextBits: u32 = 0;
let literalPositionMask: u32 = 0;
let positionMask: u32 = 0;

let state: u32 = 0;
let rep0: u32 = 0;
let rep1: u32 = 0;
let rep2: u32 = 0;
let rep3: u32 = 0;

/** Makes earlier output unreachable for matches. */
export function resetDictionary(): void {
  out = OUTPUT;
  oldest = OUTPUT;
  processed = 0;
}

/** Sets the properties of the following chunks. False if they are invalid. */
export function setProperties(byte: u32): bool {
  if (byte >= 225) return false;
  literalContextBits = byte % 9;
  const positionBits = (byte / 9) % 5;
  literalPositionMask = (1 << positionBits) - 1;
  positionMask = (1 << (byte / 45)) - 1;
  return literalContextBits + positionBits <= 4;
}

export function resetState(): void {
  state = 0;
  rep0 = rep1 = rep2 = rep3 = 0;
  resetProbs(LITERAL + (0x300 << 4));
}

/** Moved in one step. */
const SLIDE_BYTES: u32 = 8_388_608;
let slid: u32 = 0;

/** Makes room for output, keeping `dictionaryBytes` of it, step by step. Returns whether it is done. */
export function slide(dictionaryBytes: u32): bool {
  if (out - OUTPUT <= dictionaryBytes) return true;
  const bytes = min<u32>(SLIDE_BYTES, dictionaryBytes - slid);
  memory.copy(OUTPUT + slid, out - dictionaryBytes + slid, bytes);
  slid += bytes;
  if (slid < dictionaryBytes) return false;
  slid = 0;
  out = OUTPUT + dictionaryBytes;
  return true;
}

/** Appends bytes at INPUT that are not compressed. */
export function copyPlain(bytes: u32): void {
  memory.copy(out, INPUT, bytes);
  out += bytes;
  processed += bytes;
}

/** Begins the chunk at INPUT. False if it is invalid. */
export function startChunk(bytes: u32): bool {
  return startRange(INPUT, INPUT + bytes);
}

/** Decodes until `chunkEnd`, where the chunk must end, or until `limit` is reached. */
export function run(chunkEnd: u32, limit: u32): i32 {
  while (out < chunkEnd) {
    if (out >= limit) return FULL;
    const position = processed & positionMask;
    let result = DONE;
    if (decodeBit(IS_MATCH + (state << 4) + position) === 0) putLiteral();
    else result = putMatch(position, chunkEnd);
    if (result !== DONE) return result;
  }
  return codeIsZero() ? DONE : BAD_CODE;
}

/** Whether all bytes of the chunk were used. */
export function inputIsUsed(bytes: u32): bool {
  return next === INPUT + bytes;
}

function putLiteral(): void {
  const before = processed > 0 ? <u32>load<u8>(out - 1) : 0;
  const context = ((processed & literalPositionMask) << literalContextBits) + (before >> (8 - literalContextBits));
  const probs = LITERAL + 0x300 * context;
  let symbol: u32 = 1;
  if (state >= 7) {
    let match = <u32>load<u8>(out - rep0 - 1);
    let offset: u32 = 0x100;
    while (symbol < 0x100) {
      match <<= 1;
      const matchBit = match & offset;
      const bit = decodeBit(probs + offset + matchBit + symbol);
      symbol = (symbol << 1) | bit;
      offset = bit === 0 ? offset & ~matchBit : matchBit;
    }
  } else while (symbol < 0x100) symbol = (symbol << 1) | decodeBit(probs + symbol);
  store<u8>(out, <u8>symbol);
  out++;
  processed++;
  state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
}

function putMatch(position: u32, chunkEnd: u32): i32 {
  let bytes: u32 = 0;
  if (decodeBit(IS_REP + state) !== 0) {
    bytes = readRepeated(position);
  } else {
    rep3 = rep2;
    rep2 = rep1;
    rep1 = rep0;
    bytes = MIN_MATCH + readLength(LENGTH, position);
    state = state < 7 ? 7 : 10;
    rep0 = readDistance(bytes);
  }
  // A distance of 0xffffffff ends a stream of LZMA, which LZMA2 does not have.
  if (rep0 >= out - oldest) return BAD_DISTANCE;
  if (bytes > chunkEnd - out) return BAD_LENGTH;
  const end = out + bytes;
  for (let at = out; at < end; at++) store<u8>(at, load<u8>(at - rep0 - 1));
  out = end;
  processed += bytes;
  return DONE;
}

/** Selects one of the last distances. Returns the length. */
function readRepeated(position: u32): u32 {
  if (decodeBit(IS_REP_G0 + state) === 0) {
    if (decodeBit(IS_REP0_LONG + (state << 4) + position) === 0) {
      state = state < 7 ? 9 : 11;
      return 1;
    }
  } else {
    let distance = rep1;
    if (decodeBit(IS_REP_G1 + state) !== 0) {
      distance = rep2;
      if (decodeBit(IS_REP_G2 + state) !== 0) {
        distance = rep3;
        rep3 = rep2;
      }
      rep2 = rep1;
    }
    rep1 = rep0;
    rep0 = distance;
  }
  state = state < 7 ? 8 : 11;
  return MIN_MATCH + readLength(REP_LENGTH, position);
}

function readLength(probs: u32, position: u32): u32 {
  if (decodeBit(probs) === 0) return decodeTree(probs + 2 + (position << 3), 3);
  if (decodeBit(probs + 1) === 0) return 8 + decodeTree(probs + 130 + (position << 3), 3);
  return 16 + decodeTree(probs + 258, 8);
}

function readDistance(bytes: u32): u32 {
  const slot = decodeTree(POS_SLOT + (min<u32>(bytes - MIN_MATCH, 3) << 6), 6);
  if (slot < 4) return slot;
  const directBits = (slot >> 1) - 1;
  const distance = (2 | (slot & 1)) << directBits;
  if (slot < 14) return distance + decodeReverse(SPEC_POS + distance - slot, directBits);
  const high = distance + (decodeDirect(directBits - 4) << 4);
  return high + decodeReverse(ALIGN, 4);
}
