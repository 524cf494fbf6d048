/** The error of a source with fewer or more bytes than announced: those it has given, up to the chunk that is too long. */
export type WrongSize = (givenBytes: number) => Error;

/**
 * Bytes whose number is known before they are read: iterating emits exactly that many, in chunks that are not empty, or
 * fails. Nothing else may announce a size to a client, which would wait for missing bytes forever.
 */
export class SizedBytes implements AsyncIterable<Uint8Array> {
  readonly sizeBytes: number;
  readonly #chunks: AsyncIterable<Uint8Array>;
  readonly #wrongSize: WrongSize;

  /** Without `wrongSize` a source that does not keep to its size is a mistake in this program. */
  constructor(sizeBytes: number, chunks: AsyncIterable<Uint8Array>, wrongSize?: WrongSize) {
    this.sizeBytes = sizeBytes;
    this.#chunks = chunks;
    this.#wrongSize = wrongSize ?? ((given) => new Error(`a stream of ${sizeBytes} bytes has ${given}`));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    let givenBytes = 0;
    for await (const chunk of this.#chunks) {
      givenBytes += chunk.length;
      if (givenBytes > this.sizeBytes) throw this.#wrongSize(givenBytes);
      if (chunk.length > 0) yield chunk;
    }
    if (givenBytes < this.sizeBytes) throw this.#wrongSize(givenBytes);
  }
}
