import { setImmediate as nextTurn } from 'node:timers/promises';
import { entryCost, type RecordRing } from './record-ring.ts';
import type { FollowEvent, RecordEntry } from './ring-entry.ts';

/** A text that buffers incomplete records for a while. */
export interface FlushableText {
  readonly dueMs: number;
  flush(nowMs: number): RecordEntry[];
}

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
   * One read may be more than the ring holds, so followers that keep up get a turn in between. Slow ones are not waited
   * for.
   */
  async writeAll(entries: readonly RecordEntry[]): Promise<void> {
    const turnBytes = this.#limitBytes() / 4;
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
