/*
 * The inner loops of scrubbing, in AssemblyScript: `npm run kernel` compiles it to src/kernel/grams-wasm.ts, which
 * src/kernel/gram-kernel.ts loads. Nothing is allocated here. The scan kernel contains the same loops, for text that is
 * already in its memory.
 */

export { escapes } from './scrub/escapes';
export { findGrams } from './scrub/find-grams';

/** Memory layout, read by the host. One byte per hash, with a bit for every tag. */
export const GRAMS: u32 = 0;
export const GRAM_HASHES: u32 = 65536;
export const INTRODUCERS: u32 = GRAMS + GRAM_HASHES;
export const FOLLOW: u32 = INTRODUCERS + 16;
export const PAIRS: u32 = FOLLOW + 256;
export const FIRSTS: u32 = PAIRS + 8192;
/** Every byte of one pass of text may be a hit. */
export const HITS: u32 = FIRSTS + 256;
export const MAX_HITS: u32 = 65536;
/** As much text as stays in the nearest caches after it is copied here, plus what the loops read beyond its end. */
export const TEXT: u32 = HITS + MAX_HITS * 4;
export const TEXT_BYTES: u32 = 65536;
export const MEMORY_BYTES: u32 = TEXT + TEXT_BYTES + 256;
