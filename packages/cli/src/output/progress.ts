import type { Terminal } from './terminal.ts';

/** Shorter work shows no progress. */
const PATIENCE_MS = 400;

const REDRAW_MS = 100;

/** A progress line on stderr; only on a terminal, and only if the work takes a while. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #text: () => string;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #startedMs = performance.now();
  #isShown = false;

  constructor(terminal: Terminal, text: () => string) {
    this.#terminal = terminal;
    this.#text = text;
    if (terminal.isWatched) this.#timer = setInterval(() => this.#draw(), REDRAW_MS).unref();
  }

  /** Removes the line so that something else can be printed; the next redraw brings it back. */
  clear(): void {
    if (this.#isShown) this.#terminal.status('');
    this.#isShown = false;
  }

  end(): void {
    clearInterval(this.#timer);
    this.clear();
  }

  #draw(): void {
    if (performance.now() - this.#startedMs < PATIENCE_MS) return;
    const { dim } = this.#terminal.noteColors;
    this.#terminal.status(dim(this.#text().slice(0, (process.stderr.columns || 80) - 1)));
    this.#isShown = true;
  }
}

const BAR_CELLS = 24;

/** `[######----]  42 %  12 MiB of 28 MiB`. */
export function progressBar(done: number, total: number, shown: (amount: number) => string): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const cells = Math.round(share * BAR_CELLS);
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  return `[${'#'.repeat(cells)}${'-'.repeat(BAR_CELLS - cells)}] ${percent}  ${shown(done)} of ${shown(total)}`;
}
