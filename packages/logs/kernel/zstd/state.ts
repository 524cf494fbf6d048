/* The memory layout of the zstd decoder, its return codes and its output. Part of ../zstd.ts. */

// Constants of the module are below 8192.
export const LL_TABLE: u32 = 8192;
export const OF_TABLE: u32 = 10240;
export const ML_TABLE: u32 = 12288;
export const WEIGHT_TABLE: u32 = 14336;
export const COUNTS: u32 = 14592;
export const NEXT_STATES: u32 = 15104;
export const WEIGHTS: u32 = 15616;
export const HUFFMAN_TABLE: u32 = 16384;
/** Literals of one block; up to 16 bytes beyond them are copied. */
export const LITERALS: u32 = 24576;
/** One block; up to 16 bytes beyond it are read, and before it. */
export const INPUT: u32 = 163840;
export const MAX_BLOCK_BYTES: u32 = 131072;
/** The output, of which the last window is kept. It ends where `start` says. */
export const OUTPUT: u32 = 303104;
export const MEMORY_BYTES: u32 = OUTPUT;

export const DONE: i32 = 0;
export const BAD_LITERALS: i32 = 1;
export const BAD_CODES: i32 = 2;
export const BAD_SEQUENCES: i32 = 3;
export const BAD_DISTANCE: i32 = 4;

/** End of the output, and the oldest byte of it that a match may refer to. */
export let out: u32 = OUTPUT;
export let oldest: u32 = OUTPUT;

export function putOut(end: u32): void {
  out = end;
}

/** A new frame: earlier output is out of its reach. */
export function forget(): void {
  out = OUTPUT;
  oldest = OUTPUT;
}

/** Moved in one step. */
const SLIDE_BYTES: u32 = 8_388_608;
let slid: u32 = 0;

/** Makes room for output, keeping `windowBytes` of it, step by step. Returns whether it is done. */
export function slide(windowBytes: u32): bool {
  if (out - OUTPUT <= windowBytes) return true;
  const bytes = min<u32>(SLIDE_BYTES, windowBytes - slid);
  memory.copy(OUTPUT + slid, out - windowBytes + slid, bytes);
  slid += bytes;
  if (slid < windowBytes) return false;
  slid = 0;
  out = OUTPUT + windowBytes;
  return true;
}
