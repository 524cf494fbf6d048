/**
 * Looks things up by name on this thread. Requests that arrive in the same turn of the event loop share one lookup,
 * which takes place when all of them have arrived: none gets a result older than its request.
 */
export class GatheredLookup<T> {
  readonly #find: (name: string) => T | Promise<T>;
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
