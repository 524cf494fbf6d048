/** Why an attempt ends. No error, which would note where it was made: that costs milliseconds, and nobody asks. */
const ENDED = { name: 'AbortError', message: 'it is no longer wanted' } as const;

/** Something that takes time and of which one at a time is wanted. */
export class Attempt {
  #controller = new AbortController();

  /** Of what was begun last. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What was begun before ends. */
  begin(): AbortSignal {
    this.end();
    this.#controller = new AbortController();
    return this.#controller.signal;
  }

  end(): void {
    this.#controller.abort(ENDED);
  }
}
