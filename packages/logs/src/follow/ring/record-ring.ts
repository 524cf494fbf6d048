import type { FollowEvent, RecordEntry, RingEntry } from './ring-entry.ts';

/** What an entry costs beside its text, so that many short lines are counted as what they take. */
const ENTRY_BYTES = 256;

/** Entries given away before the array is moved up: moving it for each would cost more than all else. */
const MOVE_AFTER = 4096;

/** Losses among the entries given away that are remembered; beyond it one stands for several. */
const MAX_LOSSES = 32;

/** An event that says that records are lost, and the records on both sides of it. */
export interface Loss {
  seq: number;
  event: FollowEvent;
  /** Cursor of the place behind the record before it. */
  end: string | null;
  /** Continues with the record behind it. */
  next: string | null;
}

/** Called when there is something new. */
export interface RingListener {
  signal(): void;
}

export interface RingOptions {
  /** Asked at every push: rings share what there is. */
  limitBytes(): number;
}

/**
 * The newest entries of one log. Followers hold no queue, only the number of the entry they need next: a slow one
 * finds that the ring has moved past it, and costs nobody anything.
 */
export class RecordRing {
  readonly #limitBytes: () => number;
  readonly #listeners = new Set<RingListener>();
  #entries: (RingEntry | undefined)[] = [];
  /** Bytes of text before each entry, since the beginning: differences tell the size of a gap. */
  #startBytes: number[] = [];
  /** Places of the array that were given away. */
  #dropped = 0;
  #firstSeq = 0;
  #costBytes = 0;
  #textBytes = 0;
  #newest: RecordEntry | undefined;
  #newestMs: number | undefined;
  /** The record given away last. */
  #lastDropped: RecordEntry | undefined;
  readonly #losses: Loss[] = [];

  constructor({ limitBytes }: RingOptions) {
    this.#limitBytes = limitBytes;
  }

  /** Number of the oldest entry still held. */
  get firstSeq(): number {
    return this.#firstSeq;
  }

  /** Number the next entry will get. */
  get nextSeq(): number {
    return this.#firstSeq + this.#entries.length - this.#dropped;
  }

  get costBytes(): number {
    return this.#costBytes;
  }

  /** The record pushed last, held or not. */
  get newest(): RecordEntry | undefined {
    return this.#newest;
  }

  /** The latest time of a record. */
  get newestMs(): number | undefined {
    return this.#newestMs;
  }

  push(entry: RingEntry): void {
    if (entry.kind === 'record') {
      this.#newest = entry;
      const { timeMs } = entry.piece.head;
      if (timeMs > (this.#newestMs ?? Number.NEGATIVE_INFINITY)) this.#newestMs = timeMs;
    }
    this.#entries.push(entry);
    this.#startBytes.push(this.#textBytes);
    this.#textBytes += entryTextBytes(entry);
    this.#costBytes += entryCost(entry);
    this.trim();
  }

  /** Gives away the oldest ones beyond the limit; the newest always stays. */
  trim(): void {
    const limit = this.#limitBytes();
    while (this.#costBytes > limit && this.#entries.length - this.#dropped > 1) {
      const oldest = this.#entries[this.#dropped];
      if (oldest) this.#costBytes -= entryCost(oldest);
      if (oldest?.kind === 'record') this.#lastDropped = oldest;
      else if (oldest && isLoss(oldest.event)) this.#rememberLoss(oldest.event);
      this.#entries[this.#dropped] = undefined;
      this.#dropped++;
      this.#firstSeq++;
    }
    if (this.#dropped < MOVE_AFTER) return;
    this.#entries = this.#entries.slice(this.#dropped);
    this.#startBytes = this.#startBytes.slice(this.#dropped);
    this.#dropped = 0;
  }

  /** Those among the entries given away, from this one on. */
  lossesFrom(seq: number): Loss[] {
    return this.#losses.filter((loss) => loss.seq >= seq);
  }

  #rememberLoss(event: FollowEvent): void {
    let next: RingEntry | undefined;
    for (let index = this.#dropped + 1; index < this.#entries.length && next?.kind !== 'record'; index++)
      next = this.#entries[index];
    const behind = next?.kind === 'record' ? next.before : null;
    this.#losses.push({ seq: this.#firstSeq, event, end: this.#lastDropped?.end ?? null, next: behind });
    if (this.#losses.length > MAX_LOSSES) this.#losses.shift();
  }

  /** `undefined` for one that is not held, or not yet. */
  at(seq: number): RingEntry | undefined {
    return seq < this.#firstSeq ? undefined : this.#entries[seq - this.#firstSeq + this.#dropped];
  }

  /** Bytes of text pushed before this entry; of one not held, the nearest that is. */
  bytesBefore(seq: number): number {
    const index = Math.max(seq, this.#firstSeq) - this.#firstSeq + this.#dropped;
    return this.#startBytes[index] ?? this.#textBytes;
  }

  /** The newest entry for which it holds. */
  findLast(holds: (entry: RingEntry) => boolean): number | undefined {
    for (let index = this.#entries.length - 1; index >= this.#dropped; index--) {
      const entry = this.#entries[index];
      if (entry && holds(entry)) return this.#firstSeq + index - this.#dropped;
    }
    return undefined;
  }

  /** Tells the followers that there is something new: once for many entries. */
  notify(): void {
    for (const listener of this.#listeners) listener.signal();
  }

  addListener(listener: RingListener): void {
    this.#listeners.add(listener);
  }

  removeListener(listener: RingListener): void {
    this.#listeners.delete(listener);
  }
}

function isLoss({ type }: FollowEvent): boolean {
  return type === 'gap' || type === 'truncated';
}

function entryTextBytes(entry: RingEntry): number {
  return entry.kind === 'record' ? entry.piece.bytes.length : 0;
}

export function entryCost(entry: RingEntry): number {
  return entryTextBytes(entry) + ENTRY_BYTES;
}
