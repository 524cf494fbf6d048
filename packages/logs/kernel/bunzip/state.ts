/* The memory layout of the bzip2 decoder. Part of ../bunzip.ts. */

// Constants of the module are below 1024; a table of checksums follows.
export const COUNTS: u32 = 2048;
/** Bytes that occur in the block, and their order by last use. */
export const IN_USE: u32 = 3072;
export const ORDER: u32 = 3328;
/** Up to 18,002 selectors are of use; 32,767 may be stored. */
export const SELECTORS: u32 = 4096;
export const LENGTHS: u32 = 36864;
/** For each of the six groups: limits, bases and symbols by code length. */
export const CODES: u32 = 37376;
export const CODES_BYTES: u32 = 1024;
/** Compressed blocks; the longest has 900,000 symbols of 20 bits. Up to 16 bytes beyond are read. */
export const INPUT: u32 = 49152;
export const INPUT_BYTES: u32 = 2424832;
export const OUTPUT: u32 = INPUT + INPUT_BYTES + 64;
export const OUTPUT_BYTES: u32 = 131072;
/** A block, 4 bytes for each of its 900,000. */
export const TEXT: u32 = OUTPUT + OUTPUT_BYTES;
export const MEMORY_BYTES: u32 = TEXT + 3600064;
