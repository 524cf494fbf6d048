import { PortholeError } from '@porthole/contract';

/** What one client may take unless a setting says otherwise, what follows leave, and what is kept for members: a quarter each. */
const SHARE = 4;

/** Whom a stream is for. */
export interface StreamUser {
  /** The same for all requests of one client, whatever the transport. */
  client: string;
  /** Another node of the cluster, in its own name. */
  isMember: boolean;
  /** A follow: it does not end by itself. */
  isEndless: boolean;
}

export interface StreamSlotsOptions {
  max: number;
  /** Streams of one client; 0: a quarter of all. */
  perClient?: number;
  /** Whether other nodes come with the cluster token: then some streams are kept for them. */
  hasMembers?: boolean;
}

/**
 * Counts the streams under way and refuses more than allowed: each holds a descriptor and up to two chunks. No client can
 * take all of them, nor can follows, nor clients those of members, nor members those of clients.
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

  constructor({ max: most, perClient = 0, hasMembers = false }: StreamSlotsOptions) {
    this.max = most;
    this.perClient = perClient === 0 ? Math.ceil(most / SHARE) : perClient;
    this.#reserve = Math.floor(most / SHARE);
    this.#hasMembers = hasMembers;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Returns what gives the slot back; calling that twice is harmless. */
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
    const { max: most, perClient } = this;
    const reserve = this.#reserve;
    if (this.#taken >= most) return `${most} streams are under way, as many as http.max-streams allows`;
    if (!isMember && (this.#byClient.get(client) ?? 0) >= perClient)
      return `${perClient} streams of this client are under way, as many as http.max-streams-per-client allows`;
    if (isEndless && this.#endless >= most - reserve)
      return `${this.#endless} follows are under way; the rest of http.max-streams (${most}) is kept for responses that end`;
    if (isMember && this.#members >= Math.max(1, most - 2 * reserve))
      return `${this.#members} streams of other nodes are under way; the rest of http.max-streams (${most}) is kept for clients`;
    const clients = this.#taken - this.#members;
    if (!isMember && this.#hasMembers && clients >= Math.max(1, most - reserve))
      return `${clients} streams of clients are under way; the rest of http.max-streams (${most}) is kept for other nodes`;
    return undefined;
  }

  #count({ client, isMember, isEndless }: StreamUser, by: 1 | -1): void {
    this.#taken += by;
    if (isEndless) this.#endless += by;
    if (isMember) this.#members += by;
    const ofClient = (this.#byClient.get(client) ?? 0) + by;
    if (ofClient === 0) this.#byClient.delete(client);
    else this.#byClient.set(client, ofClient);
  }
}
