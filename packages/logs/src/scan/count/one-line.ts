import type { ScanKernel } from '../../kernel/scan-kernel.ts';

/** Tells records with continuation lines, which come in ascending order: the kernel finds all lines of a block at once. */
export class OneLine {
  readonly #kernel: ScanKernel;
  #bytes: Buffer | undefined;
  /** The lines of this range are known: their number, and the first one that is not behind. */
  #from = 0;
  #to = 0;
  #lines = 0;
  #at = 0;

  constructor(kernel: ScanKernel) {
    this.#kernel = kernel;
  }

  /** Whether no other line starts in `[start, end)`. */
  isOne(bytes: Buffer, start: number, end: number): boolean {
    const { lines } = this.#kernel;
    if (bytes !== this.#bytes || start < this.#from) {
      this.#bytes = bytes;
      this.#from = start;
      // There is no room for more lines, and in a block there are no more.
      this.#to = Math.min(bytes.length, start + lines.length);
      this.#lines = this.#kernel.lineStarts(start, this.#to);
      this.#at = 0;
    }
    while (this.#at < this.#lines && (lines[this.#at] ?? 0) <= start) this.#at++;
    return end <= this.#to && (this.#at >= this.#lines || (lines[this.#at] ?? 0) >= end);
  }
}
