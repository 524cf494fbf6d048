import { setImmediate as nextTurn } from 'node:timers/promises';
import { entryCost, type RecordRing } from './record-ring.ts';
import type { FollowEvent, RecordEntry } from './ring-entry.ts';

/** Pushes what was read to the ring and notifies the followers. */
export class RingWriter {
  readonly #ring: RecordRing;
  readonly #limitBytes: () => number;
  #isBusy = false;

  constructor(ring: RecordRing, limitBytes: () => number) {
    this.#ring = ring;
    this.#limitBytes = limitBytes;
  }

  /** In the middle of `writeAll`: buffered records of other files must not come before the rest of it. */
  get isBusy(): boolean {
    return this.#isBusy;
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

  writeEvent(event: FollowEvent): void {
    this.#ring.push({ kind: 'event', event });
    this.#ring.notify();
  }
}
