/** Wakes one sleeper. A ring while nobody sleeps is kept for the next one; unlike a race of promises it holds nothing. */
export class Latch {
  #isSignalled = false;
  #wake: (() => void) | undefined;

  signal(): void {
    this.#isSignalled = true;
    this.#wake?.();
  }

  async wait(): Promise<void> {
    if (!this.#isSignalled) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#isSignalled = false;
    this.#wake = undefined;
  }
}
