import type { ResponseBudget } from '@porthole/contract';

/** Bytes of each response not counted by the budget: short responses work even if it is exhausted. */
const UNCOUNTED_BYTES = 256 * 1024;

/** The bytes of one response in memory, as far as the budget that all responses share counts them. */
export class HeldBytes {
  readonly #budget: ResponseBudget | undefined;
  #bytes = 0;
  #countedBytes = 0;

  constructor(budget: ResponseBudget | undefined) {
    this.#budget = budget;
  }

  /** Returns what is exceeded, for the error; `undefined` if there is room. */
  add(bytes: number): string | undefined {
    this.#bytes += bytes;
    const more = Math.max(0, this.#bytes - UNCOUNTED_BYTES) - this.#countedBytes;
    if (!this.#budget || more <= 0) return undefined;
    if (!this.#budget.hold(more)) return `the ${this.#budget.maxBytes} bytes that all responses together may hold`;
    this.#countedBytes += more;
    return undefined;
  }

  reduceTo(bytes: number): void {
    this.#bytes = bytes;
    const counted = Math.min(this.#countedBytes, Math.max(0, bytes - UNCOUNTED_BYTES));
    this.#budget?.release(this.#countedBytes - counted);
    this.#countedBytes = counted;
  }
}
