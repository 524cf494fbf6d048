/** Abort reason. A plain object: creating an Error captures a stack trace, which costs milliseconds. */
const ENDED = { name: 'AbortError', message: 'superseded' } as const;

/** A cancellable task of which only the latest matters. */
export class Attempt {
  #controller = new AbortController();

  /** Signal of the latest task. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts a task and cancels the previous one. */
  begin(): AbortSignal {
    this.end();
    this.#controller = new AbortController();
    return this.#controller.signal;
  }

  end(): void {
    this.#controller.abort(ENDED);
  }
}
