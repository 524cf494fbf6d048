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

export interface TextStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** A list of texts as JSON. Anything may have been stored: what is no such list is ignored. */
export function parseTexts(json: string): string[] {
  const value = parseJson(json);
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

export function parseJson(text: string): unknown {
  // Nothing was stored. An error that is thrown while the page starts takes milliseconds.
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
