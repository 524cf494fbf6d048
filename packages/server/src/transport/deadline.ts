import { PortholeError } from '@porthole/contract';

/** The time an answer has until its first byte, and the signal that tells when it is over or the client has gone. */
export class Deadline {
  readonly #timer: NodeJS.Timeout;
  #controller: AbortController | undefined;
  #reason: Error | undefined;
  #giveUp: (reason: Error) => void = () => {};

  constructor(timeoutMs: number) {
    this.#timer = setTimeout(() => {
      const message = `no answer within ${timeoutMs} ms, the limit set by http.answer-timeout`;
      this.abort(new PortholeError('DEADLINE_EXCEEDED', message));
    }, timeoutMs);
  }

  /** Made when first asked for: most answers are done before anyone needs it, and it costs more than the rest of this. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
    this.#giveUp(this.#reason);
  }

  /** Settles like `work`, or rejects when it is aborted first: work stuck in the system cannot hold the answer. */
  race<T>(work: Promise<T>, onLate: (value: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      if (this.#reason) reject(this.#reason);
      work.then((value) => {
        if (this.#reason) onLate(value);
        resolve(value);
      }, reject);
    });
  }

  /** The first byte is on its way: from here on only a stalled reader or the client ends it. */
  met(): void {
    clearTimeout(this.#timer);
  }
}
