/**
 * Looks things up by name. Concurrent requests share one disk access, but none gets a result older than its request: a
 * request made while a lookup is running waits for the next one, together with all others made meanwhile.
 */
export class SharedLookup<T> {
  readonly #find: (name: string) => Promise<T>;
  readonly #running = new Map<string, Promise<T>>(); // kept: on the path of every view; it has a handler from birth
  readonly #next = new Map<string, Promise<T>>(); // kept: on the path of every view; its caller awaits it

  constructor(find: (name: string) => Promise<T>) {
    this.#find = find;
  }

  get(name: string): Promise<T> {
    const running = this.#running.get(name);
    if (running === undefined) return this.#start(name);
    const waiting = this.#next.get(name);
    if (waiting !== undefined) return waiting;
    const restart = () => {
      this.#next.delete(name);
      return this.#start(name);
    };
    const next = running.then(restart, restart);
    this.#next.set(name, next);
    return next;
  }

  #start(name: string): Promise<T> {
    const lookup = this.#find(name);
    this.#running.set(name, lookup);
    const done = () => {
      if (this.#running.get(name) === lookup) this.#running.delete(name);
    };
    lookup.then(done, done);
    return lookup;
  }
}

/**
 * Looks things up by name on this thread. Requests that arrive in the same turn of the event loop share one lookup,
 * which takes place when all of them have arrived: none gets a result older than its request.
 */
export class GatheredLookup<T> {
  readonly #find: (name: string) => T | Promise<T>;
  // kept: on the path of every view; its caller awaits it, without a signal
  readonly #gathered = new Map<string, Promise<T>>();

  constructor(find: (name: string) => T | Promise<T>) {
    this.#find = find;
  }

  get(name: string): Promise<T> {
    const gathered = this.#gathered.get(name);
    if (gathered !== undefined) return gathered;
    const lookup = new Promise<T>((resolve, reject) => {
      setImmediate(() => {
        this.#gathered.delete(name);
        try {
          resolve(this.#find(name));
        } catch (error) {
          reject(error);
        }
      });
    });
    this.#gathered.set(name, lookup);
    return lookup;
  }
}
