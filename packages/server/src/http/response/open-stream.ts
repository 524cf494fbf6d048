import type { StreamBody } from './route-response.ts';

/**
 * A body of unknown length. The first piece is awaited before the head is sent, so that a refused request still gets its
 * status. The next piece is requested only when the one before is flushed.
 */
export async function openStream(pieces: AsyncIterable<Uint8Array>): Promise<StreamBody> {
  const iterator = pieces[Symbol.asyncIterator]();
  const close = async () => {
    await iterator.return?.();
  };
  const first = await iterator.next();
  return { chunks: chunks(first), close };

  async function* chunks(taken: IteratorResult<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for (let piece = taken; !piece.done; piece = await iterator.next()) yield piece.value;
    } finally {
      await close();
    }
  }
}
