/** Cancels jobs. Threads poll the shared number before every block, and before every record they test a regex on. */
export class CancelFlag {
  readonly shared = new SharedArrayBuffer(4);
  /** A job with this flag had to yield to others: its next ones queue behind theirs. Set by the pool. */
  isSlow = false;
  /** Whose jobs it cancels: clients take turns. Empty: those of nobody in particular, who count as one. */
  client: string;
  readonly #listeners = new Set<() => void>();
  readonly #isDue: (() => boolean) | undefined;
  #isSet = false;

  /** `isDue` is polled whenever this thread reads the flag. */
  constructor({ client = '', isDue }: { client?: string | undefined; isDue?: (() => boolean) | undefined } = {}) {
    this.client = client;
    this.#isDue = isDue;
  }

  get isSet(): boolean {
    if (!this.#isSet && this.#isDue?.()) this.set();
    return this.#isSet;
  }

  set(): void {
    if (this.#isSet) return;
    this.#isSet = true;
    Atomics.store(new Int32Array(this.shared), 0, 1);
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }

  /** Returns a function that removes the listener. */
  whenSet(listener: () => void): () => void {
    if (this.#isSet) listener();
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** A job ended because it was cancelled. Never leaves the engine: whoever set the flag knows why. */
export class JobCancelled extends Error {
  override readonly name = 'JobCancelled';

  constructor() {
    super('the scan was cancelled');
  }
}
