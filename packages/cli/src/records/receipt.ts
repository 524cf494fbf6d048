import type { Histogram } from '@porthole/logs';
import { showBytes } from '../output/show-bytes.ts';
import type { Terminal } from '../output/terminal.ts';
import { visibleText } from '../output/visible-text.ts';

type End = Histogram['end'];

/** What was looked at, over all questions that one command line came to. */
export class Receipt {
  readonly #startedMs = performance.now();
  readonly #problems = new Map<string, End['problems'][number]>();
  scannedBytes = 0;

  add({ scannedBytes, skippedBytes, problems }: Pick<End, 'scannedBytes' | 'skippedBytes' | 'problems'>): void {
    this.scannedBytes += scannedBytes + skippedBytes;
    for (const problem of problems) this.#problems.set(`${problem.file} ${problem.code}`, problem);
  }

  /** Whether something that was asked for could not be read. */
  get isPartial(): boolean {
    return this.#problems.size > 0;
  }

  /** Tells of every file that could not be read, or not wholly. */
  warn(terminal: Terminal): void {
    for (const { file, code, detail } of this.#problems.values())
      terminal.warn(visibleText(`${file}: ${code}: ${detail}`));
  }

  toString(): string {
    const seconds = (performance.now() - this.#startedMs) / 1000;
    return `${showBytes(this.scannedBytes)} looked at in ${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  }
}
