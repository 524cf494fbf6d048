import { readFileSync } from 'node:fs';
import { expectCode } from '../errors.ts';
import { escapeText } from './format-record.ts';

/** A program has a few hundred log calls; more means generated code, where memory matters more than speed. */
const MAX_KNOWN_SITES = 2000;

const MAX_SITE_CHARS = 160;

/** Folders left out of locations: `server/dist/start-node.js` becomes `server/start-node.js`. */
const BUILD_FOLDERS: readonly string[] = ['src', 'dist'];

const UNKNOWN_SITE = '-';

/** Short location of the code that called `below`, such as `http/http-server.js:42`. */
export type CallSite = (below: (...args: never[]) => unknown) => string;

export function createCallSite(): CallSite {
  const known = new Map<string, string>();
  const locations = new SourceLocations();
  return (below) => {
    const stack = captureFrame(below);
    if (stack === undefined) return UNKNOWN_SITE;
    let site = known.get(stack);
    if (site === undefined) {
      site = shortenFrame(locations.resolve(stack));
      if (known.size >= MAX_KNOWN_SITES) known.clear();
      known.set(stack, site);
    }
    return site;
  };
}

function captureFrame(below: (...args: never[]) => unknown): string | undefined {
  const holder: { stack?: unknown } = {};
  const limit = Error.stackTraceLimit;
  try {
    // One frame instead of ten makes the capture several times cheaper.
    Error.stackTraceLimit = 1;
    Error.captureStackTrace(holder, below);
    // Read here, so that a failing `Error.prepareStackTrace` of the host program is caught.
    return typeof holder.stack === 'string' ? holder.stack : undefined;
  } catch {
    return undefined; // a hook of the host program failed: the record is written without a location
  } finally {
    restoreLimit(limit);
  }
}

function restoreLimit(limit: number): void {
  try {
    Error.stackTraceLimit = limit;
  } catch {
    // Frozen intrinsics: the limit was never changed.
  }
}

/** Parses a stack of one frame: `Error\n    at serve (file:///app/dist/http/http-server.js:42:7)`. */
export function shortenFrame(stack: string): string {
  const frame = stack.slice(stack.lastIndexOf('\n') + 1).trim();
  const position = /:(\d+):\d+\)?$/.exec(frame);
  if (!frame.startsWith('at ') || position === null) return UNKNOWN_SITE;
  const before = frame.slice('at '.length, position.index);
  const path = frame.endsWith(')') ? before.slice(before.indexOf(' (') + ' ('.length) : before;
  const [file = '', ...folders] = path
    .replace(/[?#][^/\\]*$/, '')
    .split(/[/\\]/)
    .reverse();
  const folder = folders.find((name) => !BUILD_FOLDERS.includes(name)) ?? '';
  const short = folder === '' ? file : `${folder}/${file}`;
  return `${escapeText(short).slice(-MAX_SITE_CHARS)}:${position[1]}`;
}

/** Maps frames of bundled code to their source files, using the map the build writes next to the bundle. */
export class SourceLocations {
  readonly #file: URL | undefined;
  #locations: Readonly<Record<string, string>> | undefined;

  constructor(file?: URL) {
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

  #read(moduleUrl: string | undefined = import.meta.url): Readonly<Record<string, string>> {
    // Empty in a bundle of CommonJS.
    if (!this.#file && !moduleUrl) return {};
    try {
      return JSON.parse(readFileSync(this.#file ?? new URL('./places.json', moduleUrl), 'utf8')) as Record<
        string,
        string
      >;
    } catch (thrown) {
      // Without it, locations name the bundle. A damaged file must not keep a record from being written.
      if (!(thrown instanceof SyntaxError)) expectCode(thrown);
      return {};
    }
  }
}
