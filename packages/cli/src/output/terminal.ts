import pico from 'picocolors';
import type { TerminalFilter } from './terminal-filter.ts';

export type Colors = ReturnType<typeof pico.createColors>;

export type ColorChoice = 'auto' | 'always' | 'never';

export interface TerminalOptions {
  color?: ColorChoice | undefined;
  /** No notes and no warnings. */
  isQuiet?: boolean;
}

const DEFAULT_COLUMNS = 80;

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

  /** Writes data; waits for a slow reader. */
  async write(text: string | Uint8Array): Promise<void> {
    if (text.length === 0 || process.stdout.write(text)) return;
    await new Promise<void>((resolve) => process.stdout.once('drain', resolve));
  }

  /** Replaces the progress line; an empty text removes it. */
  status(text: string): void {
    this.#filter.drawOver(text);
  }

  /** Prints a message to stderr. */
  note(text: string): void {
    if (!this.#isQuiet) process.stderr.write(`porthole: ${text}\n`);
  }

  warn(text: string): void {
    if (!this.#isQuiet) process.stderr.write(`porthole: ${this.noteColors.yellow('warning')}: ${text}\n`);
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
