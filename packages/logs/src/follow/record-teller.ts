import { setImmediate as nextTurn } from 'node:timers/promises';
import { costOf, type RecordRing } from './record-ring.ts';
import type { FollowEvent, RecordEntry } from './ring-entry.ts';

/** Puts what was read into the ring and says so to the followers. */
export class RecordTeller {
  readonly #ring: RecordRing;
  readonly #limitBytes: () => number;
  #isBusy = false;

  constructor(ring: RecordRing, limitBytes: () => number) {
    this.#ring = ring;
    this.#limitBytes = limitBytes;
  }

  /** In the middle of many: nothing that is held back elsewhere may come before the rest of them. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  tell(entries: readonly RecordEntry[]): void {
    if (entries.length === 0) return;
    for (const entry of entries) this.#ring.push(entry);
    this.#ring.announce();
  }

  /**
   * What was read at once may be more than the ring holds: followers that keep up get a turn in between. Those that do
   * not are not waited for.
   */
  async tellAll(entries: readonly RecordEntry[]): Promise<void> {
    const turnBytes = this.#limitBytes() / 4;
    this.#isBusy = true;
    let cost = 0;
    for (const entry of entries) {
      this.#ring.push(entry);
      cost += costOf(entry);
      if (cost < turnBytes) continue;
      cost = 0;
      this.#ring.announce();
      await nextTurn();
    }
    this.#isBusy = false;
    if (entries.length > 0) this.#ring.announce();
  }

  tellEvent(event: FollowEvent): void {
    this.#ring.push({ kind: 'event', event });
    this.#ring.announce();
  }
}
