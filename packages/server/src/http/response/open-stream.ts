import type { StreamBody } from './route-response.ts';

/**
 * A body of unknown length that ends when its pieces do. The first piece is taken before it is answered, so that a
 * question that is refused still gets its status. A piece is asked for only when the one before is with the system.
 */
export async function openStream(pieces: AsyncIterable<Uint8Array>): Promise<StreamBody> {
  const iterator = pieces[Symbol.asyncIterator]();
  const close = async () => {
    await iterator.return?.();
  };
  const first = await iterator.next();
  return { sizeBytes: undefined, chunks: chunks(first), close };

  async function* chunks(taken: IteratorResult<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for (let piece = taken; !piece.done; piece = await iterator.next()) yield piece.value;
    } finally {
      await close();
    }
  }
}
