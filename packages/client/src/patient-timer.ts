/** A timer that is later than this says that this program did not get to reading. */
const LATE_MS = 100;

/** The time for something to come. If this program was busy itself, what has come meanwhile is read first. */
export class PatientTimer {
  #timer: ReturnType<typeof setTimeout> | undefined;

  start(ms: number, end: () => void): void {
    this.stop();
    const dueMs = performance.now() + ms;
    this.#timer = setTimeout(() => {
      if (performance.now() > dueMs + LATE_MS) this.#timer = setTimeout(end, LATE_MS);
      else end();
    }, ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
