/*
 * A decoder of LZMA chunks as LZMA2 has them, and the checksums of xz. Every distance is checked before it is used. In
 * AssemblyScript: `npm run kernel` compiles it to src/kernel/lzma-wasm.ts, which src/packed loads.
 */
import { codeIsZero, decodeBit, decodeDirect, decodeReverse, decodeTree, next, startRange } from './lzma/range';
import { INPUT, OUTPUT, resetProbs } from './lzma/state';

export { addToSum, startSum, sumHigh, sumLow } from './lzma/crc64';
export { INPUT, INPUT_BYTES, MEMORY_BYTES, OUTPUT } from './lzma/state';

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
