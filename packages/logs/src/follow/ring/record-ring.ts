import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { FollowEvent, RecordEntry, RingEntry } from './ring-entry.ts';

/** Memory of an entry besides its text, so that many short lines are accounted for. */
const ENTRY_BYTES = 256;

/** Dropped entries before the array is compacted: compacting for each would dominate the cost. */
const MOVE_AFTER = 4096;

/** Losses among the dropped entries that are remembered; beyond this the oldest are forgotten. */
const MAX_LOSSES = 32;

/** An event that reports lost records, and the records on both sides of it. */
interface Loss {
  seq: number;
  event: FollowEvent;
  /** Cursor of the position after the record before it. */
  end: string | null;
  /** Cursor that continues with the record after it. */
  next: string | null;
}

/** Notified when there are new entries. */
export interface RingListener {
  notify(): void;
}

interface RingOptions {
  /** Read at every push: all rings share one budget. */
  limitBytes(): number;
}

/**
 * The newest entries of one log. Followers hold no queue, only the sequence number of the entry they need next: a slow
 * follower finds that the ring has moved past it, and costs no memory.
 */
export class RecordRing {
  readonly #limitBytes: () => number;
  readonly #listeners = new Set<RingListener>();
  #entries: (RingEntry | undefined)[] = [];
  /** Bytes of text before each entry, since the beginning; differences are the sizes of gaps. */
  #startBytes: number[] = [];
  /** Entries at the front of the array that were dropped. */
  #dropped = 0;
  #firstSeq = 0;
  #costBytes = 0;
  #textBytes = 0;
  #newest: RecordEntry | undefined;
  #newestMs: number | undefined;
  /** The record dropped last. */
  #lastDropped: RecordEntry | undefined;
  readonly #losses: Loss[] = [];

  constructor({ limitBytes }: RingOptions) {
    this.#limitBytes = limitBytes;
  }

  /** Sequence number of the oldest entry still held. */
  get firstSeq(): number {
    return this.#firstSeq;
  }

  /** Sequence number of the next entry to be pushed. */
  get nextSeq(): number {
    return this.#firstSeq + this.#entries.length - this.#dropped;
  }

  /** Sequence number of the first event after the newest record. */
  get afterLastRecord(): number {
    const last = this.findLast(({ kind }) => kind === 'record');
    return last === undefined ? this.#firstSeq : last + 1;
  }

  get costBytes(): number {
    return this.#costBytes;
  }

  /** The record pushed last, even if it was dropped already. */
  get newest(): RecordEntry | undefined {
    return this.#newest;
  }

  /** The latest timestamp of a record. */
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

  /** Drops the oldest entries beyond the limit; the newest always stays. */
  trim(): void {
    if (this.#entries.length - this.#dropped <= 1 && this.#dropped < MOVE_AFTER) return;
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

  /** Losses among the dropped entries from `seq` on. */
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

  /** `undefined` for an entry that was dropped, or not pushed yet. */
  at(seq: number): RingEntry | undefined {
    return seq < this.#firstSeq ? undefined : this.#entries[seq - this.#firstSeq + this.#dropped];
  }

  /** Bytes of text pushed before this entry; for a dropped one, before the oldest entry held. */
  bytesBefore(seq: number): number {
    const index = Math.max(seq, this.#firstSeq) - this.#firstSeq + this.#dropped;
    return this.#startBytes[index] ?? this.#textBytes;
  }

  /** Sequence number of the newest entry that satisfies the predicate. */
  findLast(holds: (entry: RingEntry) => boolean): number | undefined {
    for (let index = this.#entries.length - 1; index >= this.#dropped; index--) {
      const entry = this.#entries[index];
      if (entry && holds(entry)) return this.#firstSeq + index - this.#dropped;
    }
    return undefined;
  }

  /** Wakes the followers, once for many entries. */
  notify(): void {
    for (const listener of this.#listeners) listener.notify();
  }

  /** Masks secrets in records that were read before these secrets were known. */
  rescrub(scrubber: Scrubber): void {
    let run: RecordEntry[] = [];
    for (let seq = this.#firstSeq; seq < this.nextSeq; seq++) {
      const entry = this.at(seq);
      const record = entry?.kind === 'record' ? entry : undefined;
      // A secret may span consecutive pieces of one line.
      if (!record?.piece.continued) {
        scrubRun(run, scrubber);
        run = [];
      }
      if (record) run.push(record);
    }
    scrubRun(run, scrubber);
  }

  addListener(listener: RingListener): void {
    this.#listeners.add(listener);
  }

  removeListener(listener: RingListener): void {
    this.#listeners.delete(listener);
  }
}

function scrubRun(run: readonly RecordEntry[], scrubber: Scrubber): void {
  const bytes = Buffer.concat(run.map(({ piece }) => piece.bytes));
  if (!scrubber.mask(bytes)) return;
  let at = 0;
  for (const entry of run) {
    at += bytes.copy(entry.piece.bytes, 0, at, at + entry.piece.bytes.length);
    entry.clearCache();
  }
}

function isLoss({ type }: FollowEvent): boolean {
  return type === 'gap' || type === 'truncated';
}

function entryTextBytes(entry: RingEntry): number {
  return entry.kind === 'record' ? entry.piece.bytes.length : 0;
}

function entryCost(entry: RingEntry): number {
  return entryTextBytes(entry) + ENTRY_BYTES;
}

/** A text that buffers incomplete records for a while. */
interface FlushableText {
  readonly dueMs: number;
  flush(nowMs: number): RecordEntry[];
}

/** Turns that a follower gets while as much is written as the ring holds: a batch takes a few to reach its reader. */
const TURNS = 16;

/** Pushes what was read to the ring and notifies the followers. */
export class RingWriter {
  readonly #ring: RecordRing;
  readonly #limitBytes: () => number;
  /** In the middle of `writeAll`: buffered records of other files must not come before the rest of it. */
  #isBusy = false;
  #flushTimer: NodeJS.Timeout | undefined;

  constructor(ring: RecordRing, limitBytes: () => number) {
    this.#ring = ring;
    this.#limitBytes = limitBytes;
  }

  write(entries: readonly RecordEntry[]): void {
    if (entries.length === 0) return;
    for (const entry of entries) this.#ring.push(entry);
    this.#ring.notify();
  }

  /**
   * One read may be more than the ring holds, so followers that keep up get turns in between. Slow ones are not waited
   * for.
   */
  async writeAll(entries: readonly RecordEntry[]): Promise<void> {
    const turnBytes = this.#limitBytes() / TURNS;
    this.#isBusy = true;
    let cost = 0;
    for (const entry of entries) {
      this.#ring.push(entry);
      cost += entryCost(entry);
      if (cost < turnBytes) continue;
      cost = 0;
      this.#ring.notify();
      await nextTurn();
    }
    this.#isBusy = false;
    if (entries.length > 0) this.#ring.notify();
  }

  /** Writes what the files have buffered when it is due, with one timer for all. Replaces the previous call. */
  flushWhenDue(openFiles: () => readonly { text: FlushableText }[]): void {
    clearTimeout(this.#flushTimer);
    const files = openFiles();
    const dueMs = Math.min(Infinity, ...files.map(({ text }) => text.dueMs));
    if (dueMs === Infinity) return;
    const flush = () => {
      if (!this.#isBusy) for (const { text } of files) this.write(text.flush(performance.now()));
      this.flushWhenDue(openFiles);
    };
    this.#flushTimer = setTimeout(flush, Math.max(1, dueMs - performance.now()));
  }

  stopFlushing(): void {
    clearTimeout(this.#flushTimer);
  }

  writeEvent(event: FollowEvent): void {
    this.#ring.push({ kind: 'event', event });
    this.#ring.notify();
  }
}
