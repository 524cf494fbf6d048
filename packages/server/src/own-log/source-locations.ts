import { readFileSync } from 'node:fs';

/** Frames of code that was bundled, led back to the file it was written in, as the build noted it beside the bundle. */
export class SourceLocations {
  readonly #file: URL;
  #locations: Readonly<Record<string, string>> | undefined;

  constructor(file: URL = new URL('./places.json', import.meta.url)) {
    this.#file = file;
  }

  /** The frame as if the code had not been bundled; as it is where nothing is known of it. */
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
      return {}; // then the bundle is told
    }
  }
}
