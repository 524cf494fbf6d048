/** Marks jobs as no longer wanted. Threads look at the shared number before every block. */
export class CancelFlag {
  readonly shared = new SharedArrayBuffer(4);
  readonly #listeners: (() => void)[] = [];
  #isSet = false;

  get isSet(): boolean {
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
