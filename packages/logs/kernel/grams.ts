/*
 * The inner loops of scrubbing, in AssemblyScript: `npm run kernel` makes src/kernel/grams-wasm.ts of it, and
 * src/kernel/gram-kernel.ts is the other side. Nothing is allocated here. The kernel of scanning has the same loops, for
 * text that lies in its memory already.
 */

export { escapes } from './scrub/escapes';
export { look } from './scrub/look';

/** Where things lie in memory; the other side reads these. For each hash a byte, with a bit for every tag. */
export const GRAMS: u32 = 0;
export const GRAM_HASHES: u32 = 65536;
export const INTRODUCERS: u32 = GRAMS + GRAM_HASHES;
export const FOLLOW: u32 = INTRODUCERS + 16;
export const PAIRS: u32 = FOLLOW + 256;
export const FIRSTS: u32 = PAIRS + 8192;
/** Every byte may be a hit of as much text as is looked through at a time. */
export const HITS: u32 = FIRSTS + 256;
export const MAX_HITS: u32 = 65536;
/** As much text as stays in the nearest caches from the moment it is copied here, and what loops read beyond. */
export const TEXT: u32 = HITS + MAX_HITS * 4;
export const TEXT_BYTES: u32 = 65536;
export const MEMORY_BYTES: u32 = TEXT + TEXT_BYTES + 256;
