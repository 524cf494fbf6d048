import { StringDecoder } from 'node:string_decoder';
import { showHidden, unicodeEscape } from '@porthole/contract';
import pico from 'picocolors';
import type { Pager } from './pager.ts';

export type Colors = ReturnType<typeof pico.createColors>;

export type ColorChoice = 'auto' | 'always' | 'never';

interface TerminalOptions {
  color?: ColorChoice | undefined;
  /** No notes and no warnings. */
  isQuiet?: boolean;
}

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/** The output of the program: data to stdout, everything else to stderr. */
export class Terminal {
  readonly colors: Colors;
  /** Colours for stderr, which may be a terminal when stdout is not. */
  readonly noteColors: Colors;
  readonly isTty = process.stdout.isTTY === true;
  /** Whether stderr is a terminal and not quiet: only then is progress shown. */
  readonly isWatched: boolean;

  readonly #filter: TerminalFilter;
  readonly #isQuiet: boolean;
  #pager: Pager | undefined;
  /** Messages that wait for the pager. */
  #waiting: string[] = [];

  /** Informs the filter whether the program uses colours. */
  constructor(filter: TerminalFilter, { color = 'auto', isQuiet = false }: TerminalOptions = {}) {
    this.#filter = filter;
    this.#isQuiet = isQuiet;
    const isTtyStderr = process.stderr.isTTY === true;
    this.isWatched = isTtyStderr && !isQuiet;
    const painted = { stdout: wantsColor(color, this.isTty), stderr: wantsColor(color, isTtyStderr) };
    filter.paint(painted);
    this.colors = pico.createColors(painted.stdout);
    this.noteColors = pico.createColors(painted.stderr);
  }

  /** Width of the terminal; piped output is not truncated. */
  get columns(): number {
    return this.isTty ? process.stdout.columns || DEFAULT_COLUMNS : Number.POSITIVE_INFINITY;
  }

  /** Shows output longer than a screen with this pager from now on. */
  async page(command: string): Promise<void> {
    const { Pager } = await import('./pager.ts');
    this.#pager = new Pager({
      command,
      rows: process.stdout.rows || DEFAULT_ROWS,
      columns: this.columns,
      writeDirectly: (chunk) => void process.stdout.write(chunk),
      filter: this.#filter.chunkFilter('stdout'),
    });
  }

  /** Ends the output: waits until a pager is quit, then prints the messages that waited for it. */
  async close(): Promise<void> {
    await this.#pager?.close();
    for (const line of this.#waiting) process.stderr.write(line);
    this.#waiting = [];
  }

  /** Writes data; waits for a slow reader. */
  async write(text: string | Uint8Array): Promise<void> {
    if (text.length === 0) return;
    if (this.#pager) return this.#pager.write(text);
    // Also an error ends it, which the handler of the stream reports.
    await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  }

  /** Replaces the progress line; an empty text removes it. */
  status(text: string): void {
    if (!this.#pager?.isActive) this.#filter.drawOver(text);
  }

  /** Prints a message to stderr. */
  note(text: string): void {
    this.#print(`porthole: ${text}\n`);
  }

  warn(text: string): void {
    this.#print(`porthole: ${this.noteColors.yellow('warning')}: ${text}\n`);
  }

  #print(line: string): void {
    if (this.#isQuiet) return;
    if (this.#pager?.isActive) this.#waiting.push(line);
    else process.stderr.write(line);
  }
}

/** `--color`, then `NO_COLOR`, then `FORCE_COLOR`, then whether it is a terminal. */
function wantsColor(choice: ColorChoice, isTty: boolean): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (choice !== 'auto') return choice === 'always';
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return isTty && TERM !== 'dumb';
}

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
