import type { FollowStatus } from '../model/workspace-state.ts';
import type { ShownRecord } from '../source/log-source.ts';

type Counts = Pick<FollowStatus, 'newRecords' | 'newErrors' | 'linesPerSecond' | 'lagMs'>;

/** The rate is averaged over this many whole seconds. */
const SECONDS = 5;

/** Rates and counts of a stream. */
export class FollowMeter {
  readonly #rate = new FollowRate();
  #counts: Counts = { newRecords: 0, newErrors: 0, linesPerSecond: 0, lagMs: null };

  get counts(): Counts {
    return this.#counts;
  }

  note(records: readonly ShownRecord[], { nowMs, isPaused }: { nowMs: number; isPaused: boolean }): void {
    this.#rate.note(records.length, nowMs);
    const counts = { ...this.#counts, linesPerSecond: this.#rate.perSecond(nowMs) };
    const atMs = records.at(-1)?.atMs;
    if (atMs !== undefined) counts.lagMs = Math.max(0, nowMs - atMs);
    if (isPaused) {
      counts.newRecords += records.length;
      counts.newErrors += records.filter(({ level }) => level === 'ERROR' || level === 'FATAL').length;
    }
    this.#counts = counts;
  }

  resetCounts(): void {
    this.#counts = { ...this.#counts, newRecords: 0, newErrors: 0 };
  }

  /** Whether the rate has changed because nothing arrived. */
  tick(nowMs: number): boolean {
    const linesPerSecond = this.#rate.perSecond(nowMs);
    if (linesPerSecond === this.#counts.linesPerSecond) return false;
    this.#counts = { ...this.#counts, linesPerSecond };
    return true;
  }
}

/** Records per second. */
class FollowRate {
  readonly #counts = new Map<number, number>();

  note(count: number, nowMs: number): void {
    if (count === 0) return;
    const second = Math.floor(nowMs / 1000);
    this.#counts.set(second, (this.#counts.get(second) ?? 0) + count);
    this.#forgetBefore(second - SECONDS);
  }

  perSecond(nowMs: number): number {
    this.#forgetBefore(Math.floor(nowMs / 1000) - SECONDS);
    let sum = 0;
    for (const count of this.#counts.values()) sum += count;
    return Math.round((sum / SECONDS) * 10) / 10;
  }

  #forgetBefore(second: number): void {
    for (const known of this.#counts.keys()) if (known <= second) this.#counts.delete(known);
  }
}
