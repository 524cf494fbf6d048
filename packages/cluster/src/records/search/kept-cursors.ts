import { randomBytes } from 'node:crypto';

/** For all clients together. */
const MAX_COUNT = 4000;
const MAX_BYTES = 32 * 1024 ** 2;

/** After the last use. A page is usually requested within seconds of the one before. */
const MAX_AGE_MS = 30 * 60_000;

/** A client has at most this part of the count and of the bytes: one that never stops must not push out the others. */
const CLIENT_SHARE = 0.25;

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
  cursor: string;
  usedMs: number;
}

interface Usage {
  count: number;
  bytes: number;
}

/** Cursors that are too long to be returned: kept in memory, the least recently used removed first. */
export class KeptCursors {
  readonly #limits: Usage & { maxAgeMs: number };
  readonly #nowMs: () => number;
  /** By id, the least recently used first. */
  readonly #entries = new Map<string, Entry>();

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
    this.#expire();
    return sum(this.#entries.values());
  }

  /** Keeps a cursor for a client; `undefined` if it is larger than its share. */
  keep(cursor: string, client: string): string | undefined {
    this.#expire();
    const share = { count: Math.ceil(this.#limits.count * CLIENT_SHARE), bytes: this.#limits.bytes * CLIENT_SHARE };
    if (cursor.length > share.bytes) return undefined;
    // Unguessable: nobody gets at the position of another client.
    const id = randomBytes(ID_BYTES).toString('base64url');
    this.#entries.set(id, { client, cursor, usedMs: this.#nowMs() });
    while (isAbove(sum(this.#ofClient(client)), share)) this.#removeOldest(client);
    while (isAbove(sum(this.#entries.values()), this.#limits)) this.#removeOldest(this.#largestClient());
    return id;
  }

  find(id: string): string | undefined {
    this.#expire();
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    entry.usedMs = this.#nowMs();
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry.cursor;
  }

  #ofClient(client: string): Entry[] {
    return [...this.#entries.values()].filter((entry) => entry.client === client);
  }

  #removeOldest(client: string): void {
    const [oldest] = [...this.#entries].find(([, entry]) => entry.client === client) ?? [];
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  #largestClient(): string {
    const bytes = new Map<string, number>();
    for (const { client, cursor } of this.#entries.values())
      bytes.set(client, (bytes.get(client) ?? 0) + cursor.length);
    return [...bytes].reduce((largest, next) => (next[1] > largest[1] ? next : largest), ['', -1])[0];
  }

  #expire(): void {
    const oldestMs = this.#nowMs() - this.#limits.maxAgeMs;
    for (const [id, { usedMs }] of this.#entries) {
      if (usedMs >= oldestMs) return;
      this.#entries.delete(id);
    }
  }
}

/** A cursor is ASCII. */
function sum(entries: Iterable<Entry>): Usage {
  const usage = { count: 0, bytes: 0 };
  for (const { cursor } of entries) {
    usage.count++;
    usage.bytes += cursor.length;
  }
  return usage;
}

function isAbove(usage: Usage, limits: Usage): boolean {
  return usage.count > limits.count || usage.bytes > limits.bytes;
}
