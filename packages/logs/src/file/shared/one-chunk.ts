/**
 * The chunks of a short stream: there is only one, and it is at hand. A consumer that knows this class can take it
 * without iterating, which costs a short response more than reading its bytes.
 */
export class OneChunk implements AsyncIterable<Uint8Array> {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    yield this.bytes;
  }
}
