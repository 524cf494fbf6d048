import type { FormatName } from '../parse/format.ts';

/*
 * A file's text is scanned in blocks that lie at multiples of BLOCK_BYTES. A record belongs to the block it starts in.
 * In a block without any record start, its first line (or, without one, its first byte) is made to start one. So where
 * records start can be told from the bytes of one block alone, in either direction, no record is longer than two
 * blocks, and a line of gigabytes costs no more memory than any other.
 */

/** Small enough to stay in the processor's cache from reading to scanning, large enough that calls do not count. */
export const BLOCK_BYTES = 256 * 1024;

/** Of a line, at most this much is looked at to tell whether it starts a record. */
export const HEAD_LOOK_BYTES = 4096;

/** The time of a JSON line may be its last member. */
const JSON_LOOK_BYTES = 64 * 1024;

export function headLookBytes(format: FormatName): number {
  return format === 'json' ? JSON_LOOK_BYTES : HEAD_LOOK_BYTES;
}

export function blockOf(offset: number): number {
  return Math.floor(offset / BLOCK_BYTES);
}

export function blockCount(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES);
}
