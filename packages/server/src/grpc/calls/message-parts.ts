/** Below what the smallest reader takes at once, so that nothing is known of it yet. */
const FIRST_BYTES = 16 * 1024;

/** The work per message does not count any more, and it is well below the 4 MiB that clients take. */
const MOST_BYTES = 1024 * 1024;

/** A reader that needs longer for a message gets smaller ones: one that takes none for the stall time is given up. */
const SLOW_MS = 1_000;

/**
 * Chunks in parts of the size that suits their reader: larger ones as long as it is quick, which halves the work, and
 * smaller ones where it is slow. A part is valid until the next is asked for.
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
