import type { LogDir } from '@porthole/logs';

const NEWLINE = 10;

interface SettlingDeps {
  logs: LogDir;
  log: string;
  now(): number;
  settleMs: number;
}

/** Waits for the last record of a log: lines may be added to it. */
export class Settling {
  readonly #deps: SettlingDeps;
  #held: { key: string; sinceMs: number } | undefined;

  constructor(deps: SettlingDeps) {
    this.#deps = deps;
  }

  /** There is no record to wait for. */
  reset(): void {
    this.#held = undefined;
  }

  /** Whether no lines will be added to the last record: nothing was for a while, and its last line is complete. */
  async isSettled(last: { name: string; offset: number; end: number }, signal: AbortSignal): Promise<boolean> {
    const { now, settleMs, logs, log } = this.#deps;
    const key = `${last.name}:${last.offset}:${last.end}`;
    if (this.#held?.key !== key) this.#held = { key, sinceMs: now() };
    if (now() - this.#held.sinceMs < settleMs) return false;
    if (last.name !== log) return true;
    const file = await logs.open(last.name, { text: true, signal });
    try {
      for await (const byte of file.read(last.end - 1, last.end, { signal })) return byte[0] === NEWLINE;
      return false;
    } finally {
      await file.close();
    }
  }
}
