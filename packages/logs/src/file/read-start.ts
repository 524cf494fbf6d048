import type { Scrubber } from '../scrub/scrubber.ts';
import { readFd } from './fs-calls.ts';

/**
 * The first bytes of a plain file, with secrets masked. Where the file ends with what may become a secret, that is left
 * out: files are told apart by these bytes, and they must not be others when the file has grown.
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

/** The same of bytes that were read: more than `most`, unless the file ends with them. */
export function maskStart(bytes: Buffer, most: number, scrubber: Scrubber | undefined): Buffer {
  const isAll = bytes.length < most + (scrubber?.rightBytes ?? 0);
  const open = isAll ? (scrubber?.openBytes(bytes) ?? 0) : 0;
  scrubber?.mask(bytes);
  return bytes.subarray(0, Math.min(most, bytes.length - open));
}

/** A hole longer than this is not looked behind: reading it takes a moment even if nothing is on disk. */
const MAX_HOLE_BYTES = 64 * 1024 ** 2;

const CHUNK_BYTES = 256 * 1024;

/**
 * Where the text of a plain file begins: a file that was truncated under a writer without O_APPEND starts with a hole,
 * which reads as NULs. Files are told apart by what stands behind it, because before it all of them are equal. The
 * file's end where there is nothing else.
 */
export async function findTextStart(fd: number, end: number): Promise<number> {
  const limit = Math.min(end, MAX_HOLE_BYTES);
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(limit, 1)));
  for (let position = 0; position < limit; ) {
    const got = await readFd(fd, buffer, { position, length: Math.min(buffer.length, limit - position) });
    const nuls = countNuls(buffer.subarray(0, got));
    if (nuls < got) return position + nuls;
    if (got === 0) return position;
    position += got;
  }
  return end <= MAX_HOLE_BYTES ? end : 0;
}

/** NULs at the start of the bytes. */
export function countNuls(bytes: Uint8Array): number {
  let count = 0;
  while (bytes[count] === 0) count++;
  return count;
}
