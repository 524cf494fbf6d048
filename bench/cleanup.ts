import { constants } from 'node:os';

/** The run has been ended by a signal; nothing more is to be started. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Does the essential before its first await, so that it also works when there is no time to wait. */
type Closer = () => unknown;

/** What is open and how to close it, newest first. */
export class Cleanup {
  #closers: Closer[] = [];
  #ended = false;

  get ended(): boolean {
    return this.#ended;
  }

  /** Returns what forgets the closer again, for a thing that has ended by itself. */
  add(closer: Closer): () => void {
    if (this.#ended) {
      closer();
      throw new Interrupted('the run has been ended');
    }
    this.#closers.push(closer);
    return () => {
      this.#closers = this.#closers.filter((other) => other !== closer);
    };
  }

  /** Closes everything; a closer that fails does not keep the others from running. */
  async run(): Promise<void> {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        console.error('cleaning up:', error);
      }
    }
  }

  /** Begins to close everything without waiting: for a process that is at its end. */
  runSync(): void {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) void close();
  }

  /** Closes everything, and whatever may still be added. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.run();
  }
}

/** The first signal cleans up and ends the process; so does a second one, without waiting for what hangs. */
export function endWithProcess(cleanup: Cleanup): void {
  process.once('exit', () => cleanup.runSync());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const exit = () => process.exit(128 + constants.signals[signal]);
      if (cleanup.ended) exit();
      cleanup.end().then(exit, exit);
    });
  }
}
