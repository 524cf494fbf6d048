import type { RouteResponse } from './route-response.ts';

const LINE_FEED = 10;

/** Counts the records of an NDJSON response: one per line, except the last line. */
export class RecordCount {
  #lines = 0;

  get records(): number {
    return Math.max(0, this.#lines - 1);
  }

  /** The same response, counted while it is sent; `undefined` if it is not NDJSON. */
  static wrap(response: RouteResponse): { response: RouteResponse; count: RecordCount } | undefined {
    if (!('stream' in response) || response.headers['content-type'] !== 'application/x-ndjson') return undefined;
    const count = new RecordCount();
    const { chunks } = response.stream;
    return { response: { ...response, stream: { ...response.stream, chunks: count.#counted(chunks) } }, count };
  }

  async *#counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) this.#lines++;
      yield chunk;
    }
  }
}
