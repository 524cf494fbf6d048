import { errorMessage } from '@porthole/contract';
import { Shared } from '@porthole/logs/shared';
import type { JSONWebKeySet } from 'jose';

/** Keys are fetched again after this time, so that withdrawn keys are dropped. */
const FRESH_MS = 10 * 60_000;

export interface JwtKeysOptions {
  fetchKeys(): Promise<JSONWebKeySet>;
  /** Minimum time between two fetches. */
  refetchMs: number;
  /** How long keys stay valid after they were last fetched. */
  keepMs: number;
  /** Called once each time fetching starts to fail. */
  onFailure(error: unknown): void;
  now?: () => number;
}

/** The keys JWTs are verified with, fetched from a URL. */
export class JwtKeys {
  readonly #options: Required<JwtKeysOptions>;
  #keys: { set: JSONWebKeySet; text: string; fetchedMs: number } | undefined;
  readonly #fetching = new Shared<void>();
  #triedMs = Number.NEGATIVE_INFINITY;
  #failure: string | undefined;

  constructor(options: JwtKeysOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  /** Why the last fetch failed; `undefined` when it did not. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** How long the current keys stay valid without another fetch; monotonic. */
  get usableUntilMs(): number {
    return this.#keys ? this.#keys.fetchedMs + this.#options.keepMs : 0;
  }

  /** The keys if they are still valid. Returns the same object while they have not changed. */
  async current(): Promise<JSONWebKeySet | undefined> {
    const { now } = this.#options;
    const ageMs = this.#keys ? now() - this.#keys.fetchedMs : Number.POSITIVE_INFINITY;
    if (ageMs >= FRESH_MS) {
      const fetching = this.#fetchSoon();
      // The old keys are good enough meanwhile; only without keys the caller must wait.
      if (now() >= this.usableUntilMs) await fetching;
    }
    return now() < this.usableUntilMs ? this.#keys?.set : undefined;
  }

  /** A JWT names an unknown key: fetches, but not more often than allowed. */
  async renew(): Promise<JSONWebKeySet | undefined> {
    await this.#fetchSoon();
    return this.current();
  }

  #fetchSoon(): Promise<void> {
    const { now, refetchMs } = this.#options;
    if (!this.#fetching.isRunning) {
      if (now() - this.#triedMs < refetchMs) return Promise.resolve();
      this.#triedMs = now();
    }
    return this.#fetching.run(() => this.#fetch());
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
      this.#failure = withCause(error);
      if (isNew) onFailure(error);
    }
  }
}

/** `fetch failed` says nothing; the reason is in its cause. */
function withCause(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? `${errorMessage(error)}: ${cause.message}` : errorMessage(error);
}
