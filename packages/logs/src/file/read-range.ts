import { readFd } from '../fs-calls.ts';
import { truncated, unreadable } from '../log-error.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { ReadOptions } from '../types.ts';
import { fileStamp, isSettledForWriters } from './file-stamp.ts';
import type { LogHandle } from './handle-cache.ts';
import type { LentChunk, SharedReads } from './shared-reads.ts';

/** The file to read, and the reads it shares. */
export interface RangeSource {
  handle: LogHandle;
  reads: SharedReads;
}

/**
 * The bytes of `[start, end)`. There is no read-ahead: a slow consumer slows down reading and holds one chunk. A chunk
 * is valid until the next one is requested. Secrets are masked, unless the bytes are `packed`. A file that ends before
 * `end` is an error: it was truncated during the read, and a short response must not look complete.
 */
export async function* readRange(
  { handle, reads }: RangeSource,
  start: number,
  end: number,
  options: ReadOptions & { packed?: boolean } = {},
): AsyncGenerator<Buffer, void, undefined> {
  const { packed = false } = options;
  const since = reads.sequence;
  const stamp = settledStamp(handle);
  let position = start;
  while (position < end) {
    // Not for the first chunk: creating a signal costs more than reading one.
    if (position > start) options.signal?.throwIfAborted();
    const wanted = { packed, since, stamp };
    const chunk = await reads.read(handle.fd, position, end - position, wanted).catch((error: unknown) => {
      throw unreadable(handle.name, error);
    });
    try {
      if (chunk.short) throw truncated(handle.name);
      position += chunk.bytes.length;
      yield chunk.bytes;
    } finally {
      chunk.release();
    }
  }
}

/**
 * Shorter parts of a file are read on this thread if it was changed within the last minute: its end is in memory, because
 * it was written to, and a thread of the pool takes longer than all else of a short response.
 */
const MAX_IN_MEMORY_BYTES = 64 * 1024;

/** The bytes of `[start, end)`, as many as fit into a chunk, with secrets masked. The caller releases it. */
export function readChunk({ handle, reads }: RangeSource, start: number, end: number): Promise<LentChunk> {
  const settled = settledStamp(handle);
  // Only what is masked is known by its stamp.
  const stamp = reads.scrubber && settled;
  const isShortEnd = end === handle.sizeBytes && end - start <= MAX_IN_MEMORY_BYTES;
  const inMemory = handle.isLocal === true && settled === undefined && isShortEnd;
  return reads.read(handle.fd, start, end - start, { stamp, inMemory }).catch((error: unknown) => {
    throw unreadable(handle.name, error);
  });
}

function settledStamp(handle: LogHandle): string | undefined {
  return isSettledForWriters(handle) ? fileStamp(handle) : undefined;
}

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
    // Comparing is much faster than testing each byte.
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
