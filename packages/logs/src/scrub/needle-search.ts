import { GramKernel } from '../kernel/gram-kernel.ts';
import { MAX_BYTES_PER_BYTE } from './escape-reader.ts';
import { EscapedNeedles } from './escaped-needles.ts';
import { CANDIDATE_INTS, GRAM_BYTES, gramHash, type NeedleTable } from './needle-table.ts';
import type { Ranges } from './ranges.ts';

const LINE_FEED = 10;

/** Finds all needles of a table in a text, literally and with characters escaped. */
export class NeedleSearch {
  readonly #table: NeedleTable;
  /** The kernel whose memory already holds some of the texts. */
  readonly #nearKernel: GramKernel | undefined;
  /** Created for the first text that is elsewhere: not every scrubber needs one. */
  #ownKernel: GramKernel | undefined;

  constructor(table: NeedleTable, nearKernel?: GramKernel) {
    this.#table = table;
    this.#nearKernel = nearKernel;
  }

  /** Length of the longest text in which a needle is recognised. */
  get longest(): number {
    return this.#table.longest * MAX_BYTES_PER_BYTE;
  }

  /** Adds the ranges of needles in the text. Linear, unless the text was crafted to resemble the needles. */
  find(bytes: Buffer, found: Ranges): void {
    const { step } = this.#table;
    const kernel = this.#kernelFor(bytes);
    kernel.use(this.#table);
    const { hits, partBytes } = kernel;
    const end = bytes.length - GRAM_BYTES + 1;
    const most = partBytes - GRAM_BYTES;
    const stride = most - (most % step);
    let escaped: EscapedNeedles | undefined;
    for (let from = 0; from < end; from += stride) {
      const isLast = from + stride >= end;
      const count = kernel.findGrams(bytes, { from, to: isLast ? end : from + stride, step });
      for (let hit = 0; hit < count; hit++) this.#lookUp(bytes, from + (hits[hit] ?? 0), found);
      const escapes = kernel.escapes(bytes, { from, to: isLast ? bytes.length : from + stride });
      if (escapes > 0) escaped ??= new EscapedNeedles(this.#table, bytes);
      for (let hit = 0; hit < escapes; hit++) {
        const at = from + (hits[hit] ?? 0);
        escaped?.findAt(at, found);
        if (escaped?.isAborted) {
          found.add(at, bytes.length);
          return;
        }
      }
    }
  }

  /** The maximum number of bytes at the end of the text that are the beginning, not the whole, of a needle. */
  openBytes(bytes: Buffer): number {
    // No needle spans a line end.
    const line = bytes.lastIndexOf(LINE_FEED) + 1;
    const first = Math.max(line, bytes.length - this.longest + 1);
    const escaped = first < bytes.length ? new EscapedNeedles(this.#table, bytes) : undefined;
    for (let start = first; start < bytes.length; start++) {
      if (escaped?.isOpenAt(start) || escaped?.isAborted) return bytes.length - start;
    }
    return 0;
  }

  /** The number of bytes at the start of the text that are the end of a needle whose beginning was cut off. */
  cutBytes(bytes: Buffer): number {
    return new EscapedNeedles(this.#table, bytes.subarray(0, this.longest)).cutBytes();
  }

  #kernelFor(bytes: Buffer): GramKernel {
    if (this.#nearKernel?.holds(bytes)) return this.#nearKernel;
    this.#ownKernel ??= new GramKernel();
    return this.#ownKernel;
  }

  #lookUp(bytes: Buffer, position: number, found: Ranges): void {
    const gram = (bytes[position] ?? 0) | ((bytes[position + 1] ?? 0) << 8) | ((bytes[position + 2] ?? 0) << 16);
    const { slots, candidates } = this.#table;
    const mask = slots.length / 2 - 1;
    let slot = gramHash(gram) & mask;
    while (slots[2 * slot] !== gram + 1) {
      if (slots[2 * slot] === 0) return;
      slot = (slot + 1) & mask;
    }
    let candidate = slots[2 * slot + 1] ?? 0;
    while (true) {
      const needle = candidates[candidate] ?? 0;
      const start = position - (candidates[candidate + 1] ?? 0);
      const length = this.#needleLength(needle);
      if (start >= 0 && start + length <= bytes.length && this.#equals(bytes, start, needle, length)) {
        found.add(start, start + length);
      }
      if (candidates[candidate + 2] === 0) return;
      candidate += CANDIDATE_INTS;
    }
  }

  #needleLength(needle: number): number {
    const { starts } = this.#table;
    return (starts[needle + 1] ?? 0) - (starts[needle] ?? 0);
  }

  #equals(text: Buffer, at: number, needle: number, length: number): boolean {
    const { starts, bytes } = this.#table;
    const start = starts[needle] ?? 0;
    for (let index = 0; index < length; index++) if (text[at + index] !== bytes[start + index]) return false;
    return true;
  }
}
