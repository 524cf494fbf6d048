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
