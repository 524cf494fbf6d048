import { StringDecoder } from 'node:string_decoder';
import { showHidden } from '@porthole/contract';
import { unicodeEscape } from './visible-text.ts';

/**
 * The colours that this program paints with, and their ends. Not among them: hidden and blinking text, backgrounds, anything
 * that moves the cursor, sets a title or makes the terminal answer.
 */
const PALETTE = new RegExp(`(${String.fromCharCode(0x1b)}\\[(?:[1-47]|2[2-47]|3[1-6]|39|9[0-6])m)`);

const ERASE_LINE = '\r\u001b[K';

/** Whether the program paints what it writes: otherwise no colour comes from it. */
interface Painted {
  stdout: boolean;
  stderr: boolean;
}

/**
 * The one way to stdout and stderr, for every command and library: what nodes, logs, names and errors bring along cannot
 * act on the terminal. What a terminal would act on is shown as its code, in the form of JSON, which so stays JSON.
 *
 * - stdout, where it is a terminal: all that is written is filtered.
 * - stdout, where it is a file or a pipe: data is written as it is; programs read it.
 * - stderr: always filtered, because messages end up on a terminal in the end.
 */
export class TerminalFilter {
  readonly #painted: Painted = { stdout: false, stderr: false };
  #writeStderr = (text: string): unknown => process.stderr.write(text);

  /** Stands between the streams of this process and all who write to them, for as long as it runs. */
  install(): this {
    if (process.stdout.isTTY) this.#wrapStream('stdout');
    this.#writeStderr = this.#wrapStream('stderr');
    return this;
  }

  /** From now on colours of the program's own are let through. */
  paint(painted: Painted): void {
    Object.assign(this.#painted, painted);
  }

  /** A line on the terminal of stderr that is drawn over by the next one; empty takes it away. */
  drawOver(text: string): void {
    this.#writeStderr(`${ERASE_LINE}${filtered(text, this.#painted.stderr)}`);
  }

  #wrapStream(name: 'stdout' | 'stderr'): (text: string) => unknown {
    const stream = process[name];
    const write = stream.write.bind(stream);
    const decoder = new StringDecoder('utf8');
    const filterChunk = (chunk: string | Uint8Array) =>
      // Bytes that are no UTF-8, such as a raw C1 control, become U+FFFD.
      filtered(typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk)), this.#painted[name]);
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
