import { StringDecoder } from 'node:string_decoder';
import { showHidden } from '@porthole/contract';
import { unicodeEscape } from './visible-text.ts';

/**
 * The colour sequences this program uses. Excluded: hidden and blinking text, backgrounds, and anything that moves the
 * cursor, sets a title or makes the terminal respond.
 */
const PALETTE = new RegExp(`(${String.fromCharCode(0x1b)}\\[(?:[1-47]|2[2-47]|3[1-6]|39|9[0-6])m)`);

const ERASE_LINE = '\r\u001b[K';

/** Whether the program itself uses colours on a stream. */
interface Painted {
  stdout: boolean;
  stderr: boolean;
}

/**
 * Filters stdout and stderr for all commands and libraries, so that text from nodes, logs, names and errors cannot control
 * the terminal. Such characters are written as JSON escapes, so JSON stays valid.
 *
 * - stdout on a terminal: everything is filtered.
 * - stdout to a file or pipe: data is written unchanged; programs read it.
 * - stderr: always filtered, because it usually ends up on a terminal.
 */
export class TerminalFilter {
  readonly #painted: Painted = { stdout: false, stderr: false };
  #writeStderr = (text: string): unknown => process.stderr.write(text);

  /** Wraps the streams of this process for its lifetime. */
  install(): this {
    if (process.stdout.isTTY) this.#wrapStream('stdout');
    this.#writeStderr = this.#wrapStream('stderr');
    return this;
  }

  /** Lets the colour sequences of the program pass from now on. */
  paint(painted: Painted): void {
    Object.assign(this.#painted, painted);
  }

  /** Draws a status line on stderr over the previous one; an empty text removes it. */
  drawOver(text: string): void {
    this.#writeStderr(`${ERASE_LINE}${filtered(text, this.#painted.stderr)}`);
  }

  /** A filter for chunks of a stream: characters may be split between them. */
  chunkFilter(name: 'stdout' | 'stderr'): (chunk: string | Uint8Array) => string {
    const decoder = new StringDecoder('utf8');
    return (chunk) =>
      // Invalid UTF-8, such as a raw C1 control, becomes U+FFFD.
      filtered(typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk)), this.#painted[name]);
  }

  #wrapStream(name: 'stdout' | 'stderr'): (text: string) => unknown {
    const stream = process[name];
    const write = stream.write.bind(stream);
    const filterChunk = this.chunkFilter(name);
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
      const done = rest.find((argument) => typeof argument === 'function') as (() => void) | undefined;
      return write(filterChunk(chunk), 'utf8', done);
    };
    return (text) => write(text);
  }
}

function filtered(text: string, isPainted: boolean): string {
  if (!isPainted) return showHidden(text, unicodeEscape);
  return text
    .split(PALETTE)
    .map((part, index) => (index % 2 === 1 ? part : showHidden(part, unicodeEscape)))
    .join('');
}
