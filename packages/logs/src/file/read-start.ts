import { readFd } from '../fs-calls.ts';
import type { Scrubber } from '../scrub/scrubber.ts';

/**
 * The first bytes of a plain file, with secrets masked. If the file ends with what may become a secret, that part is
 * left out: files are identified by these bytes, which must not change when the file grows.
 */
export async function readStart(
  fd: number,
  most: number,
  scrubber: Scrubber | undefined,
  position = 0,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(most + (scrubber?.rightBytes ?? 0));
  const bytes = buffer.subarray(0, await readFd(fd, buffer, { position, length: buffer.length }));
  return maskStart(bytes, most, scrubber);
}

/** The same for bytes already read: more than `most`, unless the file ends with them. */
export function maskStart(bytes: Buffer, most: number, scrubber: Scrubber | undefined): Buffer {
  const isAll = bytes.length < most + (scrubber?.rightBytes ?? 0);
  const open = isAll ? (scrubber?.openBytes(bytes) ?? 0) : 0;
  scrubber?.mask(bytes);
  return bytes.subarray(0, Math.min(most, bytes.length - open));
}

/** A longer hole is not skipped: reading it takes time even though nothing is on disk. */
const MAX_HOLE_BYTES = 64 * 1024 ** 2;

const CHUNK_BYTES = 256 * 1024;

const NULS = Buffer.alloc(CHUNK_BYTES);

/**
 * Offset where the text of a plain file begins: a file truncated under a writer without O_APPEND starts with a hole,
 * which reads as NULs. Files are identified by what follows it, because the holes of all files are equal. The end of
 * the file if there is nothing else.
 */
export async function findTextStart(fd: number, end: number): Promise<number> {
  const limit = Math.min(end, MAX_HOLE_BYTES);
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(limit, 1)));
  for (let position = 0; position < limit; ) {
    const got = await readFd(fd, buffer, { position, length: Math.min(buffer.length, limit - position) });
    const bytes = buffer.subarray(0, got);
    // Comparing is much faster than looking at each byte.
    if (!bytes.equals(NULS.subarray(0, got))) return position + countNuls(bytes);
    if (got === 0) return position;
    position += got;
  }
  return end <= MAX_HOLE_BYTES ? end : 0;
}

/** Number of NULs at the start of the bytes. */
export function countNuls(bytes: Uint8Array): number {
  let count = 0;
  while (bytes[count] === 0) count++;
  return count;
}
