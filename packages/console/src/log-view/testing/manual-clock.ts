import type { WorkspaceClock } from '../workspace/workspace-deps.ts';

/** Time that advances only when the test says so. */
export class ManualClock implements WorkspaceClock {
  #nowMs: number;
  #frames: (() => void)[] = [];
  #waits = new Set<{ atMs: number; end: () => void }>();
  /** Number of frames drawn. */
  frames = 0;

  constructor(nowMs = Date.UTC(2026, 10, 15, 12)) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  wait(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const entry = {
        atMs: this.#nowMs + waitMs,
        end: () => {
          this.#waits.delete(entry);
          resolve();
        },
      };
      this.#waits.add(entry);
      signal.addEventListener('abort', entry.end, { once: true });
    });
  }

  schedule(callback: () => void): void {
    this.#frames.push(callback);
  }

  /** Runs the scheduled frame callbacks. */
  frame(): void {
    this.frames++;
    for (const callback of this.#frames.splice(0)) callback();
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    for (const wait of [...this.#waits]) if (wait.atMs <= this.#nowMs) wait.end();
  }

  get waits(): number {
    return this.#waits.size;
  }
}

/** Resolves when all pending promises have settled. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
