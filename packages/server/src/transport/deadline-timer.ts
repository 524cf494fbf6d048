/** What ends when its time is over. */
export interface Timed {
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
