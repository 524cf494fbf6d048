/* Memory that the kernels of lines share. Part of ../lines.ts and ../line-text.ts. */

/**
 * Texts that lines consist of: 32 bytes for each, of which the last one is its length, and 32 that are 0xff where the
 * text is. The host writes them.
 */
export const TEXTS: u32 = 64;
export const TEXT_BYTES: u32 = 64;
const MAX_TEXTS: u32 = 20;

/** Where the value of each column of the line that was read last starts and ends, by the number of its text. */
export const COLUMNS: u32 = TEXTS + MAX_TEXTS * TEXT_BYTES;
export const COLUMNS_BYTES: u32 = 128;
export const SHARED_END: u32 = COLUMNS + COLUMNS_BYTES;
