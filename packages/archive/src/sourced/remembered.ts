import type { CallOptions } from '@porthole/contract';
import { Shared } from '@porthole/logs/shared';

/** How long a result is reused. */
const KEEP_MS = 5000;

/** How long a failure is: one that comes at once is not asked again and again. */
const KEEP_FAILURE_MS = 1000;

/** How long a request waits to see whether what failed last time is back. */
const RETRY_WAIT_MS = 500;

interface Failure {
  readonly error: unknown;
  /** Of the first one, epoch ms. */
  readonly sinceMs: number;
}

/** Fetches something at most every few seconds, for all requests that need it. */
export class Remembered<T> {
  readonly #fetch: () => Promise<T>;
  readonly #known: Shared<T>;
  #failure: Failure | undefined;

  constructor(fetch: () => Promise<T>, nowMs?: () => number) {
    this.#fetch = fetch;
    this.#known = new Shared({ keepMs: KEEP_MS, keepFailureMs: KEEP_FAILURE_MS, ...(nowMs && { nowMs }) });
  }

  /** Why it could not be fetched the last time; `undefined`: it could, or was not tried. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** No request cancels it for the others. What hangs costs one of them its timeout; until it is back, the others hardly wait. */
  async get(options?: CallOptions): Promise<T> {
    const fetched = this.#known.run(() => this.#fetchNoted(), options);
    const failure = this.#failure;
    if (!failure) return fetched;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(failure.error), RETRY_WAIT_MS);
    });
    return Promise.race([fetched, late]).finally(() => clearTimeout(timer));
  }

  async #fetchNoted(): Promise<T> {
    try {
      const value = await this.#fetch();
      this.#failure = undefined;
      return value;
    } catch (error) {
      this.#failure = { error, sinceMs: this.#failure?.sinceMs ?? Date.now() };
      throw error;
    }
  }
}
