import type { FetchFunction } from './node-state.ts';

/** The clock of a server, as the `Date` header of its responses shows it. */
export class ResponseClock {
  /** What to add to the monotonic clock. */
  #aheadMs: number | undefined;

  /** Its time now, within a second; `undefined` before its first response. */
  get nowMs(): number | undefined {
    return this.#aheadMs === undefined ? undefined : performance.now() + this.#aheadMs;
  }

  /** Sends requests and notes the time of each response. */
  watch(fetch: FetchFunction): FetchFunction {
    return async (url, init) => {
      const response = await fetch(url, init);
      const dateMs = Date.parse(response.headers.get('date') ?? '');
      if (Number.isFinite(dateMs)) this.#aheadMs = dateMs - performance.now();
      return response;
    };
  }
}

/** The error of a source with fewer or more bytes than announced: those it has given, up to the chunk that is too long. */
type WrongSize = (givenBytes: number) => Error;

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

/** Whether two entity tags belong to the same file, which may have grown in between. */
export function isSameFile(etag: string, other: string): boolean {
  return etag.split('-', 1)[0] === other.split('-', 1)[0];
}
