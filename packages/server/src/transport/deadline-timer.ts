/** What ends when its time is over. */
export interface Timed {
  /** Called once, unless it was stopped before. */
  expire(): void;
}

/**
 * One timer for everything that has the same time: a timer for each takes a tenth of the time of a short response. It runs
 * only while something is pending.
 */
export class DeadlineTimer {
  readonly timeoutMs: number;
  /** When each ends, in that order: all have the same time. Monotonic milliseconds. */
  readonly #pending = new Map<Timed, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  start(timed: Timed): void {
    this.#pending.set(timed, performance.now() + this.timeoutMs);
    this.#timer ??= setTimeout(() => this.#expire(), this.timeoutMs);
  }

  stop(timed: Timed): void {
    if (!this.#pending.delete(timed) || this.#pending.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #expire(): void {
    this.#timer = undefined;
    const nowMs = performance.now();
    for (const [timed, endsMs] of this.#pending) {
      if (endsMs > nowMs) {
        this.#timer = setTimeout(() => this.#expire(), Math.ceil(endsMs - nowMs));
        return;
      }
      this.#pending.delete(timed);
      timed.expire();
    }
  }
}
