import pico from 'picocolors';
import type { Pager } from './pager.ts';
import type { TerminalFilter } from './terminal-filter.ts';

export type Colors = ReturnType<typeof pico.createColors>;

export type ColorChoice = 'auto' | 'always' | 'never';

export interface TerminalOptions {
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
