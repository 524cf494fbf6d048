import { readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { systemCode } from '../log-error.ts';
import { GRAM_ROWS, type KeptSegment } from './types.ts';

/** Rows that have a checksum together: at most a page of a disk. */
export const ROWS_PER_GROUP = 64;

/** The checksum of each group of rows. */
export function groupSums(rows: Uint8Array, width: number): Uint32Array<ArrayBuffer> {
  const bytes = groupBytes(width);
  return Uint32Array.from({ length: GRAM_ROWS / ROWS_PER_GROUP }, (_, group) =>
    crc32(rows.subarray(group * bytes, (group + 1) * bytes)),
  );
}

/** Reads a group of rows; `false` if it cannot be read, or is damaged. */
export function readRowGroup(
  fd: number,
  { at, width, sums }: Pick<KeptSegment, 'at' | 'width' | 'sums'>,
  group: number,
  target: Uint8Array,
): boolean {
  const bytes = groupBytes(width);
  const rows = target.subarray(0, bytes);
  try {
    if (readSync(fd, rows, 0, bytes, at + group * bytes) < bytes) return false;
  } catch (error) {
    // An index that cannot be read is as good as none.
    if (systemCode(error) === undefined) throw error;
    return false;
  }
  return crc32(rows) === sums[group];
}

export function groupBytes(width: number): number {
  return (ROWS_PER_GROUP * width) / 8;
}
