import type { JSONWebKeySet } from 'jose';

/** Keys are fetched again after so long, so that one that was withdrawn does not count for ever. */
const FRESH_MS = 10 * 60_000;

export interface JwtKeysOptions {
  fetchKeys(): Promise<JSONWebKeySet>;
  /** The least time between two fetches. */
  refetchMs: number;
  /** How long keys count after they were last fetched. */
  keepMs: number;
  /** Told once each time fetching begins to fail. */
  onFailure(error: unknown): void;
  now?: () => number;
}

/** The keys JWTs are checked with, as an address gives them. */
export class JwtKeys {
  readonly #options: Required<JwtKeysOptions>;
  #keys: { set: JSONWebKeySet; text: string; fetchedMs: number } | undefined;
  #fetching: Promise<void> | undefined;
  #triedMs = Number.NEGATIVE_INFINITY;
  #failure: string | undefined;

  constructor(options: JwtKeysOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  /** Why the last fetch failed; `undefined` when it did not. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Until when the present keys count, if nothing new is fetched; by a clock that does not jump. */
  get usableUntilMs(): number {
    return this.#keys ? this.#keys.fetchedMs + this.#options.keepMs : 0;
  }

  /** The keys as far as they may still be used. The very same object while they are the same. */
  async current(): Promise<JSONWebKeySet | undefined> {
    const { now } = this.#options;
    const ageMs = this.#keys ? now() - this.#keys.fetchedMs : Number.POSITIVE_INFINITY;
    if (ageMs >= FRESH_MS) {
      const fetching = this.#fetchSoon();
      // Old ones are good enough meanwhile; without any there is nothing but to wait.
      if (now() >= this.usableUntilMs) await fetching;
    }
    return now() < this.usableUntilMs ? this.#keys?.set : undefined;
  }

  /** Someone has a key that is not among these. Fetches, but not more often than allowed. */
  async renew(): Promise<JSONWebKeySet | undefined> {
    await this.#fetchSoon();
    return this.current();
  }

  #fetchSoon(): Promise<void> {
    if (this.#fetching !== undefined) return this.#fetching;
    const { now, refetchMs } = this.#options;
    if (now() - this.#triedMs < refetchMs) return Promise.resolve();
    this.#triedMs = now();
    this.#fetching = this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetch(): Promise<void> {
    const { fetchKeys, now, onFailure } = this.#options;
    try {
      const set = await fetchKeys();
      const text = JSON.stringify(set);
      this.#keys = { set: this.#keys?.text === text ? this.#keys.set : set, text, fetchedMs: now() };
      this.#failure = undefined;
    } catch (error) {
      const isNew = this.#failure === undefined;
      this.#failure = errorMessage(error);
      if (isNew) onFailure(error);
    }
  }
}

/** `fetch failed` says nothing; what it failed of is in its cause. */
function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
}
