import { PortholeError } from '@porthole/contract';

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

/** What ends when its time is over. */
interface Timed {
  /** Called once, unless it was stopped before. */
  expire(): void;
  /** For the timer alone. */
  place: TimedPlace | undefined;
}

/** Where something pending is in the list of its timer. */
interface TimedPlace {
  timed: Timed;
  /** Monotonic milliseconds. */
  endsMs: number;
  before: TimedPlace | undefined;
  behind: TimedPlace | undefined;
}

/**
 * One timer for everything that has the same time: a timer for each takes a tenth of the time of a short response. It
 * keeps the process alive only while something is pending, and ends when it fires and nothing is.
 */
export class DeadlineTimer {
  readonly timeoutMs: number;
  /** A linked list in the order in which they end, as all have the same time: a `Map` takes several times as long. */
  #first: TimedPlace | undefined;
  #last: TimedPlace | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  start(timed: Timed): void {
    const place = { timed, endsMs: performance.now() + this.timeoutMs, before: this.#last, behind: undefined };
    timed.place = place;
    if (this.#last) this.#last.behind = place;
    else {
      this.#first = place;
      this.#timer?.ref();
    }
    this.#last = place;
    this.#timer ??= setTimeout(() => this.#expire(), this.timeoutMs);
  }

  stop(timed: Timed): void {
    if (!this.#remove(timed)) return;
    // Not cleared: short responses come one after the other, and each would set it again.
    if (this.#first === undefined) this.#timer?.unref();
  }

  /** Whether it was pending. */
  #remove(timed: Timed): boolean {
    const { place } = timed;
    if (place === undefined) return false;
    timed.place = undefined;
    if (place.before) place.before.behind = place.behind;
    else this.#first = place.behind;
    if (place.behind) place.behind.before = place.before;
    else this.#last = place.before;
    return true;
  }

  #expire(): void {
    this.#timer = undefined;
    const nowMs = performance.now();
    for (let place = this.#first; place; place = this.#first) {
      if (place.endsMs > nowMs) {
        this.#timer ??= setTimeout(() => this.#expire(), Math.ceil(place.endsMs - nowMs));
        return;
      }
      this.#remove(place.timed);
      place.timed.expire();
    }
  }
}
