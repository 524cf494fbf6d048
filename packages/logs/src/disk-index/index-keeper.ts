import type { IndexKeeperTimes } from '../file/index-dir.ts';
import { NO_WORK, owned } from '../shared.ts';

/** Searches come in bursts: nothing is written or built before this long after the last one. */
const IDLE_MS = 5000;

/** The searches of a busy node never pause for that long: then it is done this much later. So is what has failed. */
const LATEST_MS = 60_000;

export interface IndexKeeperDeps extends IndexKeeperTimes {
  /** Writes what searches have learned. Returns whether nothing is left. */
  save(): Promise<boolean>;
  /**
   * Builds what is missing, until nothing is left, which it returns, or the signal aborts. Beside searches, it takes one
   * short step.
   */
  build(signal: AbortSignal, options: { isBusy: boolean }): Promise<boolean>;
  /** Something failed that should not. */
  onError(error: unknown): void;
}

/**
 * Does what is not urgent once no search has been running for a while, and stops it when one arrives. While searches
 * never pause, it saves and builds a little once a minute.
 */
export class IndexKeeper {
  readonly #deps: IndexKeeperDeps;
  readonly #idleMs: number;
  readonly #latestMs: number;
  #searches = 0;
  #timer: NodeJS.Timeout | undefined;
  /** When something that waits is done at the latest. */
  #dueMs = Infinity;
  #working = NO_WORK;
  #abort = new AbortController();
  #phase: 'waiting' | 'idle work' | 'busy work' | 'closed' = 'waiting';
  /** Something has changed since it began to work. */
  #isStale = false;

  constructor(deps: IndexKeeperDeps) {
    this.#deps = deps;
    this.#idleMs = deps.idleMs ?? IDLE_MS;
    this.#latestMs = deps.latestMs ?? LATEST_MS;
  }

  noteStart(): void {
    this.#searches++;
    if (this.#phase === 'idle work') this.#abort.abort();
    this.wake();
  }

  noteEnd(): void {
    this.#searches--;
    this.wake();
  }

  /** There may be something to do. */
  wake(): void {
    this.#isStale = true;
    if (this.#dueMs === Infinity) this.#dueMs = performance.now() + this.#latestMs;
    this.#schedule();
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    this.#phase = 'closed';
    clearTimeout(this.#timer);
    this.#abort.abort();
    await this.#working;
    await this.#deps.save().catch(this.#deps.onError);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#phase !== 'waiting') return;
    const leftMs = this.#dueMs - performance.now();
    const isIdle = this.#searches === 0 && this.#idleMs <= leftMs;
    this.#timer = setTimeout(() => this.#work(isIdle), isIdle ? this.#idleMs : leftMs).unref();
  }

  #work(isIdle: boolean): void {
    this.#abort = new AbortController();
    this.#phase = isIdle ? 'idle work' : 'busy work';
    this.#isStale = false;
    this.#dueMs = Infinity;
    const work = this.#saveAndBuild(isIdle).then((isDone) => {
      if (this.#phase === 'closed') return;
      this.#phase = 'waiting';
      // Searches that still run have perhaps learned more.
      if (this.#isStale || this.#searches > 0) return this.wake();
      if (isDone) return;
      // What has failed is not tried again at once.
      this.#dueMs = performance.now() + this.#latestMs;
      this.#timer = setTimeout(() => this.#work(true), this.#latestMs).unref();
    });
    this.#working = owned(work, this.#deps.onError);
  }

  async #saveAndBuild(isIdle: boolean): Promise<boolean> {
    const { signal } = this.#abort;
    try {
      const isSaved = await this.#deps.save();
      return !signal.aborted && (await this.#deps.build(signal, { isBusy: !isIdle })) && isSaved;
    } catch (error) {
      this.#deps.onError(error);
      return false;
    }
  }
}
