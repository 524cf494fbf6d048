/** The numbers that change with every change of a file: all but the birth time, which is last. */
const STAMP_NUMBERS = 5;

/**
 * The stats of a file, read from a shared array of numbers: a `BigIntStats` for each of 100,000 takes a kilobyte, and
 * even six `bigint`s take 200 bytes.
 */
export class SeenStats {
  readonly #numbers: BigInt64Array;
  readonly #first: number;

  /** `numbers` has `STAT_NUMBERS` for each file, those of this one at `first`. */
  constructor(numbers: BigInt64Array, first: number) {
    this.#numbers = numbers;
    this.#first = first;
  }

  get dev(): bigint {
    return this.#at(0);
  }

  get ino(): bigint {
    return this.#at(1);
  }

  get size(): bigint {
    return this.#at(2);
  }

  get mtimeNs(): bigint {
    return this.#at(3);
  }

  get ctimeNs(): bigint {
    return this.#at(4);
  }

  get birthtimeNs(): bigint {
    return this.#at(5);
  }

  /** Whether the file has not changed, as far as its stats show it (see `isSettled`). */
  hasSameStamp(other: SeenStats): boolean {
    for (let number = 0; number < STAMP_NUMBERS; number++) {
      if (this.#at(number) !== other.#at(number)) return false;
    }
    return true;
  }

  #at(number: number): bigint {
    return this.#numbers[this.#first + number] ?? 0n;
  }
}
