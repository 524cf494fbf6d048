import type { FollowStatus } from '../model/workspace-state.ts';
import type { ShownRecord } from '../source/log-source.ts';
import { FollowRate } from './follow-rate.ts';

type Counts = Pick<FollowStatus, 'newRecords' | 'newErrors' | 'linesPerSecond' | 'lagMs'>;

/** What can be told of a stream in numbers. */
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

  /** Whether the rate has changed, because nothing came. */
  tick(nowMs: number): boolean {
    const linesPerSecond = this.#rate.perSecond(nowMs);
    if (linesPerSecond === this.#counts.linesPerSecond) return false;
    this.#counts = { ...this.#counts, linesPerSecond };
    return true;
  }
}
