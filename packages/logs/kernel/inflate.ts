/*
 * An inflater (RFC 1951) that can stop between any two symbols and resume there later, also in another instance: the
 * position is a bit of the input, and `openBlock` restores the codes that apply there. Nothing is allocated. In
 * AssemblyScript: `npm run kernel` compiles it to src/kernel/inflate-wasm.ts, which src/gzip loads.
 */
import { at, count, ranOut, startBits, take } from './inflate/bits';
import { buildFixedCodes, readCodes } from './inflate/codes';
import { inflateFast } from './inflate/fast';
import { inflateLast } from './inflate/last';
import {
  BAD_BLOCK_TYPE,
  BAD_CODES,
  BAD_STORED_LENGTH,
  DONE,
  FULL,
  forget,
  moveTo,
  NEEDS_INPUT,
  next,
  out,
  putOut,
  used,
} from './inflate/state';

export {
  BAD_BLOCK_TYPE,
  BAD_CODES,
  BAD_DISTANCE,
  BAD_STORED_LENGTH,
  BAD_SYMBOL,
  DONE,
  FULL,
  INPUT,
  INPUT_BYTES,
  MEMORY_BYTES,
  NEEDS_INPUT,
  next,
  OUTPUT,
  OUTPUT_END,
  oldest,
  out,
  slide,
  used,
} from './inflate/state';

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
