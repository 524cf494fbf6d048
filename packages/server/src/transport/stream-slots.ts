import { PortholeError } from '@porthole/contract';

/** The default limit per client, the share reserved for responses that end and the share reserved for members: a quarter each. */
const SHARE = 4;

/** The client a stream is for. */
export interface StreamUser {
  /** The same for all requests of one client, whatever the transport. */
  client: string;
  /** Another node of the cluster, with the cluster token. */
  isMember: boolean;
  /** A follow: it does not end by itself. */
  isEndless: boolean;
}

export interface StreamSlotsOptions {
  max: number;
  /** Streams of one client; 0: a quarter of all. */
  perClient?: number;
  /** Whether other nodes send the cluster token: then some streams are reserved for them. */
  hasMembers?: boolean;
}

/**
 * Limits the number of open streams: each holds a descriptor and up to two chunks. No single client can use all of them,
 * nor can follows; clients cannot use those reserved for members, nor members those reserved for clients.
 */
export class StreamSlots {
  readonly max: number;
  readonly perClient: number;
  readonly #reserve: number;
  readonly #hasMembers: boolean;
  readonly #byClient = new Map<string, number>();
  #taken = 0;
  #endless = 0;
  #members = 0;
  readonly #waiting = new Set<() => void>();

  constructor({ max, perClient = 0, hasMembers = false }: StreamSlotsOptions) {
    this.max = max;
    this.perClient = perClient === 0 ? Math.ceil(max / SHARE) : perClient;
    this.#reserve = Math.floor(max / SHARE);
    this.#hasMembers = hasMembers;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Resolves as soon as no response is open that ends by itself, and after this time in any case. */
  async untilFree(mostMs: number): Promise<void> {
    if (this.#taken === this.#endless) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        clearTimeout(timer);
        this.#waiting.delete(go);
        resolve();
      };
      const timer = setTimeout(go, mostMs).unref();
      this.#waiting.add(go);
    });
  }

  /** Returns a function that releases the slot; calling it twice is harmless. */
  take(user: StreamUser): () => void {
    const refusal = this.#findRefusal(user);
    if (refusal !== undefined) throw new PortholeError('TOO_MANY_STREAMS', refusal);
    this.#count(user, 1);
    let isReleased = false;
    return () => {
      if (!isReleased) this.#count(user, -1);
      isReleased = true;
    };
  }

  #findRefusal({ client, isMember, isEndless }: StreamUser): string | undefined {
    const { max, perClient } = this;
    const reserve = this.#reserve;
    if (this.#taken >= max) return `${max} streams are open, the limit set by http.max-streams`;
    if (!isMember && (this.#byClient.get(client) ?? 0) >= perClient)
      return `${perClient} streams of this client are open, the limit set by http.max-streams-per-client`;
    if (isEndless && this.#endless >= max - reserve)
      return `${this.#endless} follows are open; the rest of http.max-streams (${max}) is reserved for responses that end`;
    if (isMember && this.#members >= Math.max(1, max - 2 * reserve))
      return `${this.#members} streams of other nodes are open; the rest of http.max-streams (${max}) is reserved for clients`;
    const clients = this.#taken - this.#members;
    if (!isMember && this.#hasMembers && clients >= Math.max(1, max - reserve))
      return `${clients} streams of clients are open; the rest of http.max-streams (${max}) is reserved for other nodes`;
    return undefined;
  }

  #count({ client, isMember, isEndless }: StreamUser, by: 1 | -1): void {
    this.#taken += by;
    if (isEndless) this.#endless += by;
    if (isMember) this.#members += by;
    const ofClient = (this.#byClient.get(client) ?? 0) + by;
    if (ofClient === 0) this.#byClient.delete(client);
    else this.#byClient.set(client, ofClient);
    if (this.#taken === this.#endless) for (const go of this.#waiting) go();
  }
}
