/** Wakes one sleeper. A ring while nobody sleeps is kept for the next one; unlike a race of promises it holds nothing. */
export class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  async wait(): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#rung = false;
    this.#wake = undefined;
  }
}
