/** Ranges found in a text: pairs of start and end, in no particular order. Its memory is reused. */
export class Ranges {
  #pairs = new Int32Array(256);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  clear(): void {
    this.#count = 0;
  }

  /** Merges a range that overlaps or touches the last one: a text full of secrets does not exhaust memory. */
  add(start: number, end: number): void {
    const last = 2 * (this.#count - 1);
    const lastStart = this.#pairs[last] ?? 0;
    const lastEnd = this.#pairs[last + 1] ?? 0;
    if (this.#count > 0 && start <= lastEnd && end >= lastStart) {
      this.#pairs[last] = Math.min(start, lastStart);
      this.#pairs[last + 1] = Math.max(end, lastEnd);
      return;
    }
    if (2 * this.#count === this.#pairs.length) {
      const larger = new Int32Array(2 * this.#pairs.length);
      larger.set(this.#pairs);
      this.#pairs = larger;
    }
    this.#pairs[2 * this.#count] = start;
    this.#pairs[2 * this.#count + 1] = end;
    this.#count++;
  }

  /** Fills the ranges, clipped to `[from, to)`. */
  fill(bytes: Buffer, sign: number, { from, to }: { from: number; to: number }): void {
    for (let index = 0; index < this.#count; index++) {
      const start = Math.max(this.#pairs[2 * index] ?? 0, from);
      const end = Math.min(this.#pairs[2 * index + 1] ?? 0, to);
      if (start < end) bytes.fill(sign, start, end);
    }
  }
}
