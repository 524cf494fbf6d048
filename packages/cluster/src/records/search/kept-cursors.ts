import { randomBytes } from 'node:crypto';

/** For all clients together. */
const MAX_COUNT = 4000;
const MAX_BYTES = 32 * 1024 ** 2;

/** After the last use. A page is usually requested within seconds of the one before. */
const MAX_AGE_MS = 30 * 60_000;

/** A client has at most this part of the count and of the bytes: one that never stops must not push out the others. */
const CLIENT_SHARE = 0.25;

const SWEEP_MS = 60_000;

const ID_BYTES = 12;

export interface KeptCursorsOptions {
  maxCount?: number;
  maxBytes?: number;
  maxAgeMs?: number;
  /** Monotonic. */
  nowMs?: () => number;
}

interface Entry {
  client: string;
  packed: Buffer;
  usedMs: number;
}

interface Usage {
  count: number;
  bytes: number;
}

/** Positions that are too large for a cursor: kept in memory, the least recently used removed first. */
export class KeptCursors {
  readonly #limits: Usage & { maxAgeMs: number };
  readonly #nowMs: () => number;
  /** By id, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #clients = new Map<string, Usage>();
  #bytes = 0;
  #sweeping: ReturnType<typeof setInterval> | undefined;

  constructor({
    maxCount = MAX_COUNT,
    maxBytes = MAX_BYTES,
    maxAgeMs = MAX_AGE_MS,
    nowMs = () => performance.now(),
  }: KeptCursorsOptions = {}) {
    this.#limits = { count: maxCount, bytes: maxBytes, maxAgeMs };
    this.#nowMs = nowMs;
  }

  get usage(): Usage {
    return { count: this.#entries.size, bytes: this.#bytes };
  }

  /** Keeps a position for a client; `undefined` if it is larger than its share. */
  keep(packed: Buffer, client: string): string | undefined {
    this.#expire();
    const share = { count: Math.ceil(this.#limits.count * CLIENT_SHARE), bytes: this.#limits.bytes * CLIENT_SHARE };
    if (packed.length > share.bytes) return undefined;
    // Unguessable: nobody gets at the position of another client.
    const id = randomBytes(ID_BYTES).toString('base64url');
    // A slice would keep the whole buffer it was cut from.
    this.#put(id, { client, packed: Buffer.from(packed), usedMs: this.#nowMs() });
    while (isAbove(this.#clients.get(client), share)) this.#removeOldest(client);
    while (isAbove(this.usage, this.#limits)) this.#removeOldest(this.#largestClient());
    this.#sweeping ??= setInterval(() => this.#expire(), SWEEP_MS).unref();
    return id;
  }

  find(id: string): Buffer | undefined {
    this.#expire();
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    entry.usedMs = this.#nowMs();
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry.packed;
  }

  close(): void {
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
    this.#entries.clear();
    this.#clients.clear();
    this.#bytes = 0;
  }

  #put(id: string, entry: Entry): void {
    this.#entries.set(id, entry);
    this.#bytes += entry.packed.length;
    const { count, bytes } = this.#clients.get(entry.client) ?? { count: 0, bytes: 0 };
    this.#clients.set(entry.client, { count: count + 1, bytes: bytes + entry.packed.length });
  }

  #remove(id: string, { client, packed }: Entry): void {
    this.#entries.delete(id);
    this.#bytes -= packed.length;
    const { count, bytes } = this.#clients.get(client) ?? { count: 1, bytes: 0 };
    if (count <= 1) this.#clients.delete(client);
    else this.#clients.set(client, { count: count - 1, bytes: bytes - packed.length });
  }

  #removeOldest(client: string): void {
    for (const [id, entry] of this.#entries) {
      if (entry.client !== client) continue;
      this.#remove(id, entry);
      return;
    }
  }

  #largestClient(): string {
    let largest = { client: '', bytes: -1 };
    for (const [client, { bytes }] of this.#clients) if (bytes > largest.bytes) largest = { client, bytes };
    return largest.client;
  }

  #expire(): void {
    const oldestMs = this.#nowMs() - this.#limits.maxAgeMs;
    for (const [id, entry] of this.#entries) {
      if (entry.usedMs >= oldestMs) break;
      this.#remove(id, entry);
    }
    if (this.#entries.size > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }
}

function isAbove(usage: Usage | undefined, limits: Usage): boolean {
  return usage !== undefined && (usage.count > limits.count || usage.bytes > limits.bytes);
}
