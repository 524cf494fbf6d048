/**
 * Wakes those who wait for a change. A notification while nobody waits is kept for the next `wait`, so that none is
 * missed between checking and waiting. A wait may also end without a change: check again after it.
 */
export class Condition {
  #isNotified = false;
  #waiting = new Set<() => void>();

  notify(): void {
    const waiting = this.#waiting;
    this.#isNotified = waiting.size === 0;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }

  /** Resolves with the next notification, or after `withinMs`. */
  wait(withinMs?: number): Promise<void> {
    if (this.#isNotified) {
      this.#isNotified = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = withinMs === undefined ? undefined : setTimeout(wake, withinMs);
      this.#waiting.add(wake);
    });
  }
}
