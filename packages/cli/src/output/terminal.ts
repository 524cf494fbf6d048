import pico from 'picocolors';
import type { TerminalFilter } from './terminal-filter.ts';

export type Colors = ReturnType<typeof pico.createColors>;

export type ColorChoice = 'auto' | 'always' | 'never';

const DEFAULT_COLUMNS = 80;

/** Where the program writes: data to stdout, everything else to stderr. */
export class Terminal {
  readonly colors: Colors;
  /** Of what goes to stderr, which may be a terminal when stdout is not. */
  readonly noteColors: Colors;
  readonly isTty = process.stdout.isTTY === true;
  /** Whether someone looks at stderr: only then is progress shown. */
  readonly isWatched = process.stderr.isTTY === true;

  readonly #filter: TerminalFilter;

  /** All output passes the filter, whoever writes it; here it learns whether the program uses colours. */
  constructor(filter: TerminalFilter, choice: ColorChoice = 'auto') {
    this.#filter = filter;
    const painted = { stdout: wantsColor(choice, this.isTty), stderr: wantsColor(choice, this.isWatched) };
    filter.paint(painted);
    this.colors = pico.createColors(painted.stdout);
    this.noteColors = pico.createColors(painted.stderr);
  }

  /** Of the terminal; what is piped is not cut. */
  get columns(): number {
    return this.isTty ? process.stdout.columns || DEFAULT_COLUMNS : Number.POSITIVE_INFINITY;
  }

  /** Data. Waits until a slow reader has taken it. */
  async write(text: string | Uint8Array): Promise<void> {
    if (text.length === 0 || process.stdout.write(text)) return;
    await new Promise<void>((resolve) => process.stdout.once('drain', resolve));
  }

  /** Shows how far the work is, over what was shown before; an empty text takes it away. */
  status(text: string): void {
    this.#filter.drawOver(text);
  }

  /** Anything about the work that is not its result. */
  note(text: string): void {
    process.stderr.write(`porthole: ${text}\n`);
  }

  warn(text: string): void {
    process.stderr.write(`porthole: ${this.noteColors.yellow('warning')}: ${text}\n`);
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
