import pico from 'picocolors';

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

  constructor(choice: ColorChoice = 'auto') {
    this.colors = pico.createColors(wantsColor(choice, this.isTty));
    this.noteColors = pico.createColors(wantsColor(choice, this.isWatched));
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
