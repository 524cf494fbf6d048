import { setTimeout as delay } from 'node:timers/promises';

/** Waits so long, or until the signal aborts; whether it did not. `ref`: it keeps the process alive. */
export async function pause(ms: number, signal: AbortSignal, { ref = true } = {}): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal, ref });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return !signal.aborted;
}

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
