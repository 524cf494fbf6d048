/** Wakes all who wait for it. A ring that nobody waits for is not heard: look first, then wait, with nothing in between. */
export class Condition {
  #waiting: (() => void)[] = [];

  notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** Resolves with the next ring, or after so long. */
  wait(withinMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = withinMs === undefined ? undefined : setTimeout(() => this.notify(), withinMs);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
