import { makeNeedle, type Needle, type ScanKernel } from '../../kernel/scan-kernel.ts';

/** Behind all positions, and small enough to be stored without an object. */
const NOWHERE = 2 ** 30;

/**
 * Whether a text occurs in a range of the kernel's text, for ranges that come in ascending order: each search runs on to
 * the next occurrence, which answers for all ranges before it.
 */
export class ByteHits {
  readonly #kernel: ScanKernel;
  readonly #needle: Needle;
  #bytes: Buffer | undefined;
  /** No occurrence starts in `[#from, #next)`. */
  #from = 0;
  #next = 0;

  constructor(kernel: ScanKernel, text: string) {
    this.#kernel = kernel;
    this.#needle = makeNeedle(text, { caseSensitive: true });
  }

  /** Whether it starts and ends in `[start, end)` of the loaded text. */
  isIn(bytes: Buffer, start: number, end: number): boolean {
    if (bytes !== this.#bytes || start < this.#from || start > this.#next) {
      this.#bytes = bytes;
      this.#from = start;
      this.#kernel.setNeedle(this.#needle);
      const next = this.#kernel.find(start, bytes.length);
      this.#next = next < 0 ? NOWHERE : next;
    }
    return this.#next + this.#needle.bytes.length <= end;
  }
}
