/** An observable value. */
export class Store<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Runs after every change; the returned function unsubscribes. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}

/** Runs an access to browser storage, which may be full or forbidden: its failures return `undefined`. */
export function tryStorage<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}
