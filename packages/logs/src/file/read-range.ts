import { truncated, unreadable } from '../log-error.ts';
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

/** The bytes of `[start, end)`, as many as fit into a chunk, with secrets masked. The caller releases it. */
export function readChunk({ handle, reads }: RangeSource, start: number, end: number): Promise<LentChunk> {
  // Only what is masked is known by its stamp.
  const stamp = reads.scrubber && settledStamp(handle);
  return reads.read(handle.fd, start, end - start, { stamp }).catch((error: unknown) => {
    throw unreadable(handle.name, error);
  });
}

function settledStamp(handle: LogHandle): string | undefined {
  return isSettledForWriters(handle) ? fileStamp(handle) : undefined;
}
