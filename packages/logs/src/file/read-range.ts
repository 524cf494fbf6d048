import { truncated, unreadable } from '../log-error.ts';
import type { ReadOptions } from '../types.ts';
import { fileStamp, isSettledForWriters } from './file-stamp.ts';
import type { LogHandle } from './log-handle.ts';
import type { SharedReads } from './shared-reads.ts';

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
  const stamp = isSettledForWriters(handle) ? fileStamp(handle) : undefined;
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
