/* Which grams a text has, for the text index: see src/text-index. Part of ../scan.ts. */
import { GRAM_COLUMNS, SEEN_GRAMS, TEXT } from '../scan';

const ROWS: u32 = 32768;

/** Spreads grams of four bytes over the rows; src/text-index/gram-rows.ts has the same function. */
function rowOf(gram: u32): u32 {
  return (gram * 0x9e3779b1) >> 17;
}

/**
 * Adds the grams of `[from, to)` to the columns of `bit` in GRAM_COLUMNS. Letters of the text are folded to lower case,
 * in place. A byte per row is marked first: marking a row again is faster than testing whether it is marked, and four
 * scalar products are faster than a vector of them that must be taken apart.
 */
export function addGrams(from: u32, to: u32, bit: u32): void {
  memory.fill(SEEN_GRAMS, 0, ROWS);
  fold(TEXT + from, TEXT + to);
  const stop = TEXT + max(to, from + 3) - 3;
  let at = TEXT + from;
  for (; at + 8 <= stop; at += 8) {
    markFour(load<u64>(at));
    markFour(load<u64>(at, 4));
  }
  for (; at < stop; at++) mark(load<u32>(at));
  const column = i8x16.splat(<i8>bit);
  for (let row: u32 = 0; row < ROWS; row += 16) {
    const columns = v128.load(GRAM_COLUMNS + row);
    v128.store(GRAM_COLUMNS + row, v128.or(columns, v128.and(v128.load(SEEN_GRAMS + row), column)));
  }
}

/** Replaces ASCII capitals by small letters, also those up to 15 bytes beyond. */
function fold(from: u32, to: u32): void {
  const before = i8x16.splat(64);
  const behind = i8x16.splat(91);
  const bit = i8x16.splat(32);
  for (let at = from; at < to; at += 16) {
    const bytes = v128.load(at);
    // Bytes beyond ASCII are negative here.
    const capitals = v128.and(i8x16.gt_s(bytes, before), i8x16.lt_s(bytes, behind));
    v128.store(at, v128.or(bytes, v128.and(capitals, bit)));
  }
}

/** The grams that start with the first four bytes. */
function markFour(bytes: u64): void {
  mark(<u32>bytes);
  mark(<u32>(bytes >> 8));
  mark(<u32>(bytes >> 16));
  mark(<u32>(bytes >> 24));
}

function mark(gram: u32): void {
  store<u8>(rowOf(gram), 255, SEEN_GRAMS);
}
