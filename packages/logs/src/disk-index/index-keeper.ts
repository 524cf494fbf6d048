import { NO_WORK, owned } from '../shared.ts';

/** Searches come in bursts: nothing is written or built before this long after the last one. */
const IDLE_MS = 5000;

export interface IndexKeeperDeps {
  /** Writes what searches have learned. */
  save(): Promise<void>;
  /** Builds what is missing, until there is nothing left or the signal aborts. */
  build(signal: AbortSignal): Promise<void>;
  /** Something failed that should not. */
  onError(error: unknown): void;
  idleMs?: number | undefined;
}

/** Does what is not urgent once no search has been running for a while, and stops it when one arrives. */
export class IndexKeeper {
  readonly #deps: IndexKeeperDeps;
  #searches = 0;
  #timer: NodeJS.Timeout | undefined;
  #working = NO_WORK;
  #abort = new AbortController();
  #isBuilding = false;
  /** Something has changed since it began to build. */
  #isStale = false;
  #closed = false;

  constructor(deps: IndexKeeperDeps) {
    this.#deps = deps;
  }

  noteStart(): void {
    this.#searches++;
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  noteEnd(): void {
    this.#searches--;
    this.wake();
  }

  /** There may be something to do. */
  wake(): void {
    clearTimeout(this.#timer);
    this.#isStale = true;
    if (this.#searches > 0 || this.#isBuilding || this.#closed) return;
    this.#timer = setTimeout(() => this.#work(), this.#deps.idleMs ?? IDLE_MS).unref();
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#abort.abort();
    await this.#working;
    await this.#deps.save().catch(this.#deps.onError);
  }

  #work(): void {
    this.#abort = new AbortController();
    this.#isBuilding = true;
    this.#isStale = false;
    const work = this.#saveAndBuild(this.#abort.signal).finally(() => {
      this.#isBuilding = false;
      if (this.#isStale) this.wake();
    });
    this.#working = owned(work, this.#deps.onError);
  }

  async #saveAndBuild(signal: AbortSignal): Promise<void> {
    try {
      await this.#deps.save();
      if (!signal.aborted) await this.#deps.build(signal);
    } catch (error) {
      this.#deps.onError(error);
    }
  }
}
