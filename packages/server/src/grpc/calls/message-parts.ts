/** Initial size: small enough for any client. */
const FIRST_BYTES = 16 * 1024;

/** At this size the cost per message is negligible, and it is well below the 4 MiB that clients accept. */
const MOST_BYTES = 1024 * 1024;

/** A client that needs longer for a message gets smaller ones: one that reads nothing for the stall timeout is cut. */
const SLOW_MS = 1_000;

/**
 * Splits chunks into parts of a size that suits the client: larger while it is fast, which halves the work, and smaller
 * when it is slow. A part is valid until the next one is requested.
 */
export async function* inMessageParts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = FIRST_BYTES;
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; ) {
      const part = chunk.subarray(start, start + bytes);
      start += part.length;
      const givenMs = performance.now();
      yield part;
      const isSlow = performance.now() - givenMs > SLOW_MS;
      bytes = isSlow ? Math.max(FIRST_BYTES, bytes / 2) : Math.min(MOST_BYTES, bytes * 2);
    }
  }
}
