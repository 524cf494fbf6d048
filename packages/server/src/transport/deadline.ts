import { PortholeError } from '@porthole/contract';
import { DeadlineTimer, type Timed } from './deadline-timer.ts';

/** The time limit for the first byte of a response, with a signal that fires when it is exceeded or the client disconnects. */
export class Deadline implements Timed {
  place: Timed['place'] = undefined;
  readonly #timer: DeadlineTimer;
  #controller: AbortController | undefined;
  #reason: Error | undefined;
  #giveUp: ((reason: Error) => void) | undefined;

  /** Many deadlines can share a timer. */
  constructor(limit: number | DeadlineTimer) {
    this.#timer = typeof limit === 'number' ? new DeadlineTimer(limit) : limit;
    this.#timer.start(this);
  }

  expire(): void {
    const message = `no response within ${this.#timer.timeoutMs} ms, the limit set by http.answer-timeout`;
    this.abort(new PortholeError('DEADLINE_EXCEEDED', message));
  }

  /** Created on first use: most responses end before anyone needs it, and it costs more than the rest of this class. */
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
    this.#giveUp?.(this.#reason);
  }

  /** Settles like `work`, or rejects when it is aborted first: a hanging system call cannot block the response. */
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

  /** The first byte is being sent: from here on only a stalled or disconnected client ends the response early. */
  met(): void {
    this.#timer.stop(this);
  }
}

/** The client read nothing for the allowed time. */
export class ReaderStalled extends Error {
  override readonly name = 'ReaderStalled';
}

/** The connection was closed before the response was complete. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';
}
