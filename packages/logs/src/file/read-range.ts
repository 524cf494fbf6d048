import { truncated, unreadable } from '../log-error.ts';
import type { ReadOptions } from '../types.ts';
import { type BufferPool, CHUNK_BYTES } from './buffer-pool.ts';
import { readFd } from './fs-calls.ts';
import type { LogHandle } from './log-handle.ts';

/** Where to read from, and the memory to read into. */
export interface RangeSource {
  handle: LogHandle;
  pool: BufferPool;
}

interface PendingChunk {
  buffer: Buffer;
  length: number;
  filled: Promise<number>;
}

/**
 * The bytes of `[start, end)`. While the consumer works on one chunk the next one is already being read, never more:
 * a slow consumer slows the reading. A chunk is valid until the next is asked for.
 * A file that ends before `end` is an error: it was cut while we read, and a short answer must not look whole.
 */
export async function* readRange(
  { handle, pool }: RangeSource,
  start: number,
  end: number,
  { signal }: ReadOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  let position = start;
  let pending = begin();
  try {
    while (pending) {
      signal?.throwIfAborted();
      const { buffer, length, filled } = pending;
      const got = await filled;
      if (got < length) throw truncated(handle.name);
      position += length;
      pending = begin();
      try {
        yield length === buffer.length ? buffer : buffer.subarray(0, length);
      } finally {
        pool.give(buffer);
      }
    }
  } finally {
    if (pending) await settle(pending);
  }

  function begin(): PendingChunk | undefined {
    if (position >= end) return undefined;
    const buffer = pool.take();
    const length = Math.min(CHUNK_BYTES, end - position);
    const filled = readFd(handle.fd, buffer, { position, length }).catch((error: unknown) => {
      throw unreadable(handle.name, error);
    });
    filled.catch(ignore); // it is awaited later, perhaps only in `settle`
    return { buffer, length, filled };
  }

  /** The system may still be writing into the buffer: it can be lent again only after the read is over. */
  async function settle({ buffer, filled }: PendingChunk): Promise<void> {
    await filled.catch(ignore);
    pool.give(buffer);
  }
}

function ignore(): void {}
