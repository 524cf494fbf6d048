import { promisify } from 'node:util';
import { constants, deflateRaw } from 'node:zlib';

const deflate = promisify(deflateRaw);

/** Compressed at once by a thread of the pool. */
const BLOCK_BYTES = 256 * 1024;

/** Blocks that are being compressed at the same time, while the next one is filled. */
const MAX_RUNNING = 2;

/** Logs become a tenth larger than with the default level, in 0.4 of its time. */
const LEVEL = 3;

/** How far back a block may refer to the text before it. */
const WINDOW_BYTES = 32 * 1024;

/** The empty block that ends a stream. */
const LAST_BLOCK = Buffer.from([3, 0]);

/**
 * Compresses a file in blocks, each of which knows the end of the one before, so that several of them are compressed at
 * the same time, and while the source reads on. Together they are one stream in the format of deflate. Chunks are copied:
 * their memory may be used again.
 */
export async function* deflateBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const running: Promise<Buffer>[] = [];
  try {
    let window: Buffer | undefined;
    for await (const block of inBlocks(chunks)) {
      const packed = deflate(block, {
        level: LEVEL,
        chunkSize: BLOCK_BYTES,
        finishFlush: constants.Z_SYNC_FLUSH,
        ...(window && { dictionary: window }),
      });
      // Its failure is reported when it is awaited, which may be later.
      packed.catch(() => {});
      running.push(packed);
      window = block.subarray(-WINDOW_BYTES);
      while (running.length > MAX_RUNNING) yield (await running.shift()) as Buffer;
    }
    for (const packed of running.splice(0)) yield await packed;
    yield LAST_BLOCK;
  } finally {
    await Promise.allSettled(running);
  }
}

async function* inBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let length = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + BLOCK_BYTES - length);
      block.set(part, length);
      length += part.length;
      at += part.length;
      if (length < BLOCK_BYTES) continue;
      yield block;
      block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      length = 0;
    }
  }
  if (length > 0) yield block.subarray(0, length);
}
