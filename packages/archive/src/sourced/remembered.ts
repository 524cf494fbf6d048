import type { CallOptions } from '@porthole/contract';
import { Shared } from '@porthole/logs/shared';

/** How long a result is reused. */
const KEEP_MS = 5000;

/** How long a failure is: without it, an archive that does not respond would cost its timeout in every request. */
const KEEP_FAILURE_MS = 10_000;

/** Fetches something at most every few seconds, for all requests that need it. */
export class Remembered<T> {
  readonly #fetch: () => Promise<T>;
  readonly #known: Shared<T>;

  constructor(fetch: () => Promise<T>, nowMs?: () => number) {
    this.#fetch = fetch;
    this.#known = new Shared({ keepMs: KEEP_MS, keepFailureMs: KEEP_FAILURE_MS, ...(nowMs && { nowMs }) });
  }

  /** No request cancels it for the others. */
  get(options?: CallOptions): Promise<T> {
    return this.#known.run(this.#fetch, options);
  }
}
