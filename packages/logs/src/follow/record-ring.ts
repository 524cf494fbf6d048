import type { Bell } from './bell.ts';
import type { RingEntry } from './ring-entry.ts';

/** What an entry costs beside its text, so that many short lines are counted as what they take. */
const ENTRY_BYTES = 256;

/** Entries given away before the array is moved up: moving it for each would cost more than all else. */
const MOVE_AFTER = 4096;

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
  readonly #bells = new Set<Bell>();
  #entries: (RingEntry | undefined)[] = [];
  /** Bytes of text before each entry, since the beginning: differences tell the size of a gap. */
  #startBytes: number[] = [];
  /** Places of the array that were given away. */
  #dropped = 0;
  #firstSeq = 0;
  #costBytes = 0;
  #textBytes = 0;

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

  push(entry: RingEntry): void {
    this.#entries.push(entry);
    this.#startBytes.push(this.#textBytes);
    this.#textBytes += textBytesOf(entry);
    this.#costBytes += costOf(entry);
    this.trim();
  }

  /** Gives away the oldest ones beyond the limit; the newest always stays. */
  trim(): void {
    const limit = this.#limitBytes();
    while (this.#costBytes > limit && this.#entries.length - this.#dropped > 1) {
      const oldest = this.#entries[this.#dropped];
      if (oldest) this.#costBytes -= costOf(oldest);
      this.#entries[this.#dropped] = undefined;
      this.#dropped++;
      this.#firstSeq++;
    }
    if (this.#dropped < MOVE_AFTER) return;
    this.#entries = this.#entries.slice(this.#dropped);
    this.#startBytes = this.#startBytes.slice(this.#dropped);
    this.#dropped = 0;
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
  announce(): void {
    for (const bell of this.#bells) bell.ring();
  }

  listen(bell: Bell): void {
    this.#bells.add(bell);
  }

  leave(bell: Bell): void {
    this.#bells.delete(bell);
  }
}

function textBytesOf(entry: RingEntry): number {
  return entry.kind === 'record' ? entry.piece.bytes.length : 0;
}

export function costOf(entry: RingEntry): number {
  return textBytesOf(entry) + ENTRY_BYTES;
}
