/* The state of the inflater, its memory layout and its return codes. Part of ../inflate.ts. */
import { TABLES_END } from './codes';

// The inflater reads up to 16 bytes beyond the input and writes up to 300 beyond its limit.
export const MEMORY_BYTES: u32 = 393216;
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
export function moveTo(at: u32, held: u32): void {
  next = at - ((held + 7) >> 3);
  used = (8 - (held & 7)) & 7;
}

export function putOut(end: u32): void {
  out = end;
}

/** Makes earlier output unreachable for matches. */
export function forget(): void {
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
