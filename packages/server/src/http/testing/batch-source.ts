/** Batches that a test gives one by one, and what became of them. */
export class BatchSource<T> {
  /** How many batches were requested. */
  requested = 0;
  /** Whether the loop was left, or the end reached. */
  closed = false;
  signal: AbortSignal | undefined;
  #queued: (T[] | Error)[] = [];
  #ended = false;
  #wake = () => {};

  push(...batches: (T[] | Error)[]): this {
    this.#queued.push(...batches);
    this.#wake();
    return this;
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** As the engine's: waits for more, and throws when the signal fires. */
  async *open(signal: AbortSignal | undefined): AsyncGenerator<T[]> {
    this.signal = signal;
    signal?.addEventListener('abort', () => this.#wake(), { once: true });
    try {
      for (;;) {
        this.requested++;
        while (this.#queued.length === 0 && !this.#ended && !signal?.aborted) await this.#woken();
        signal?.throwIfAborted();
        const batch = this.#queued.shift();
        if (batch === undefined) return;
        if (batch instanceof Error) throw batch;
        yield batch;
      }
    } finally {
      this.closed = true;
    }
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
