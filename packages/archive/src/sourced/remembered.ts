import type { CallOptions } from '@porthole/contract';

/** How long a result is reused. */
const KEEP_MS = 5000;

/** How long a failure is: without it, an archive that does not respond would cost its timeout in every request. */
const KEEP_FAILURE_MS = 10_000;

/** Fetches something at most every few seconds, for all requests that need it. */
export class Remembered<T> {
  readonly #fetch: () => Promise<T>;
  readonly #nowMs: () => number;
  #known: { untilMs: number; value: Promise<T> } | undefined;

  constructor(fetch: () => Promise<T>, nowMs: () => number = () => performance.now()) {
    this.#fetch = fetch;
    this.#nowMs = nowMs;
  }

  get({ signal }: CallOptions = {}): Promise<T> {
    const nowMs = this.#nowMs();
    if (this.#known === undefined || nowMs > this.#known.untilMs) {
      // Shared: no request may cancel it.
      const known = { untilMs: nowMs + KEEP_MS, value: this.#fetch() };
      this.#known = known;
      known.value.catch(() => {
        known.untilMs = this.#nowMs() + KEEP_FAILURE_MS; // whoever waits for it gets the error
      });
    }
    return abortable(this.#known.value, signal);
  }
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
