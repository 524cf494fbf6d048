/* The memory layout of the LZMA decoder. Part of ../lzma.ts. */

/** Probabilities, of 2 bytes each. Constants of the module are below. */
export const PROBS: u32 = 4096;
export const CRC_TABLE: u32 = 32768;
/** One chunk; up to 16 bytes beyond it are read. */
export const INPUT: u32 = 36864;
export const INPUT_BYTES: u32 = 65536;
/** The output, of which the last dictionary is kept; how far it reaches is up to the caller. */
export const OUTPUT: u32 = 106496;
export const MEMORY_BYTES: u32 = OUTPUT;

const EVEN: u16 = 1024;

export function resetProbs(count: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u16>(PROBS + (i << 1), EVEN);
}
