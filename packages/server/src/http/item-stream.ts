import type { StreamBody } from './answer.ts';

/**
 * Batches of items as a body that ends when they do. The first batch is taken before it is answered, so that a question
 * that is refused still gets its status. A batch is asked for only when the one before is with the system.
 */
export async function openItemStream<T>(
  batches: AsyncIterable<T[]>,
  encode: (batch: readonly T[]) => Buffer,
): Promise<StreamBody> {
  const iterator = batches[Symbol.asyncIterator]();
  const close = async () => {
    await iterator.return?.();
  };
  const first = await iterator.next();
  return { sizeBytes: undefined, chunks: encoded(first), close };

  async function* encoded(taken: IteratorResult<T[]>): AsyncGenerator<Buffer> {
    try {
      for (let batch = taken; !batch.done; batch = await iterator.next()) {
        if (batch.value.length > 0) yield encode(batch.value);
      }
    } finally {
      await close();
    }
  }
}
