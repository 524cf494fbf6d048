/** Marks jobs as no longer wanted. Threads look at the shared number before every block. */
export class CancelFlag {
  readonly shared = new SharedArrayBuffer(4);
  readonly #listeners: (() => void)[] = [];
  readonly #isDue: (() => boolean) | undefined;
  #isSet = false;

  /** `isDue` is polled whenever this thread looks at the flag. */
  constructor(isDue?: () => boolean) {
    this.#isDue = isDue;
  }

  get isSet(): boolean {
    if (!this.#isSet && this.#isDue?.()) this.set();
    return this.#isSet;
  }

  set(): void {
    if (this.#isSet) return;
    this.#isSet = true;
    Atomics.store(new Int32Array(this.shared), 0, 1);
    for (const listener of this.#listeners.splice(0)) listener();
  }

  whenSet(listener: () => void): void {
    if (this.#isSet) listener();
    else this.#listeners.push(listener);
  }
}
