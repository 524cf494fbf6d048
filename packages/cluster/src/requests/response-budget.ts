import type { ResponseBudget } from '@porthole/contract';

/** Memory for the responses of all members while they are read and merged: four of maximum size. */
const MAX_HELD_BYTES = 64 * 1024 ** 2;

/** One budget for the responses of all members: each is bounded, but hundreds of malicious ones would add up. */
export class SharedBudget implements ResponseBudget {
  readonly maxBytes: number;
  #heldBytes = 0;

  constructor(maxBytes = MAX_HELD_BYTES) {
    this.maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  hold(bytes: number): boolean {
    if (this.#heldBytes + bytes > this.maxBytes) return false;
    this.#heldBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes;
  }

  /** For a fan-out: responses stay in memory until all of them are merged. */
  share(): FanOutBudget {
    return new FanOutBudget(this);
  }
}

class FanOutBudget implements ResponseBudget {
  readonly #all: SharedBudget;
  #heldBytes = 0;
  #isClosed = false;

  constructor(all: SharedBudget) {
    this.#all = all;
  }

  get maxBytes(): number {
    return this.#all.maxBytes;
  }

  /** Does not count a response that is still being read after its caller gave up. */
  hold(bytes: number): boolean {
    if (this.#isClosed || !this.#all.hold(bytes)) return false;
    this.#heldBytes += bytes;
    return true;
  }

  /** Its value is still in memory. */
  release(): void {}

  close(): void {
    this.#isClosed = true;
    this.#all.release(this.#heldBytes);
    this.#heldBytes = 0;
  }
}
