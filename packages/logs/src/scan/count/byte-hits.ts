/** Behind all positions, and small enough to be stored without an object. */
const NOWHERE = 2 ** 30;

/**
 * Whether a text occurs in a range of bytes, for ranges that come in ascending order: each search runs on to the next
 * occurrence, which answers for all ranges before it.
 */
export class ByteHits {
  readonly #text: Buffer;
  #bytes: Buffer | undefined;
  /** No occurrence starts in `[#from, #next)`. */
  #from = 0;
  #next = 0;

  constructor(text: string) {
    this.#text = Buffer.from(text);
  }

  /** Whether it starts and ends in `[start, end)`. */
  isIn(bytes: Buffer, start: number, end: number): boolean {
    if (bytes !== this.#bytes || start < this.#from || start > this.#next) {
      this.#bytes = bytes;
      this.#from = start;
      const next = bytes.indexOf(this.#text, start);
      this.#next = next < 0 ? NOWHERE : next;
    }
    return this.#next + this.#text.length <= end;
  }
}
