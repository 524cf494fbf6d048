/** As many points in time as are remembered; with more, every second one is forgotten. */
const MAX_MARKS = 64;

/** How long ago what is not stored yet was seen first. Counts bytes read of one log, from the start of the process. */
export class LagClock {
  readonly #marks: { atMs: number; bytes: number }[] = [];
  #seen = 0;

  /** So many bytes exist now, counted from where this process began. */
  observe(nowMs: number, bytes: number): void {
    if (bytes <= this.#seen) return;
    this.#seen = bytes;
    if (this.#marks.length >= MAX_MARKS) {
      // The oldest stays: it is the lag.
      for (let index = this.#marks.length - 2; index > 0; index -= 2) this.#marks.splice(index, 1);
    }
    this.#marks.push({ atMs: nowMs, bytes });
  }

  /** So many of them are stored. */
  note(bytes: number): void {
    while (this.#marks[0] && this.#marks[0].bytes <= bytes) this.#marks.shift();
  }

  lagMs(nowMs: number): number {
    const [oldest] = this.#marks;
    return oldest ? Math.max(0, nowMs - oldest.atMs) : 0;
  }
}
