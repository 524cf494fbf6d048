import { readFileSync } from 'node:fs';

/** Maps frames of bundled code to their source files, using the map the build writes next to the bundle. */
export class SourceLocations {
  readonly #file: URL;
  #locations: Readonly<Record<string, string>> | undefined;

  constructor(file: URL = new URL('./places.json', import.meta.url)) {
    this.#file = file;
  }

  /** The frame in the source file; unchanged if it is unknown. */
  resolve(stack: string): string {
    const location = /\/lib\/([^/]+\.js:\d+):\d+\)?$/.exec(stack)?.[1];
    if (location === undefined) return stack;
    this.#locations ??= this.#read();
    const known = Object.hasOwn(this.#locations, location) ? this.#locations[location] : undefined;
    return known === undefined ? stack : `Error\n    at ${known}:1`;
  }

  #read(): Readonly<Record<string, string>> {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8')) as Record<string, string>;
    } catch {
      return {}; // locations then name the bundle
    }
  }
}
