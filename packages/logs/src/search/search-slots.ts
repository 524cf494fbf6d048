import { LogError } from '../log-error.ts';

export interface SearchLimits {
  /** Maximum number of concurrent searches; more are rejected. */
  maxQueued?: number;
  /** The same for one client. */
  maxQueuedOf?(client: string): number;
}

/** Limits the searches and counts that run or wait at the same time. No single client can have all of them. */
export class SearchSlots {
  readonly #most: number;
  readonly #mostOf: (client: string) => number;
  readonly #byClient = new Map<string, number>();
  #taken = 0;

  constructor({ maxQueued = 64, maxQueuedOf = () => maxQueued }: SearchLimits) {
    this.#most = maxQueued;
    this.#mostOf = maxQueuedOf;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Returns what releases the slot. Without a client, only the limit for all applies. */
  take(client = ''): () => void {
    const ofClient = this.#byClient.get(client) ?? 0;
    if (this.#taken >= this.#most) throw tooMany(`${this.#taken} searches`, 'search.max-queued');
    if (client !== '' && ofClient >= this.#mostOf(client))
      throw tooMany(`${ofClient} searches of this client`, 'search.max-queued-per-client');
    this.#count(client, 1);
    return () => this.#count(client, -1);
  }

  #count(client: string, by: 1 | -1): void {
    this.#taken += by;
    const ofClient = (this.#byClient.get(client) ?? 0) + by;
    if (ofClient === 0) this.#byClient.delete(client);
    else this.#byClient.set(client, ofClient);
  }
}

function tooMany(what: string, setting: string): LogError {
  return new LogError('TOO_MANY_SEARCHES', `${what} are already running, the limit set by ${setting}; retry later`);
}
