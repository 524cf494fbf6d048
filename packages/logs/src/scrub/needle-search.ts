import { GramKernel } from '../kernel/gram-kernel.ts';
import { CANDIDATE_INTS, GRAM_BYTES, hashOf, type NeedleTable } from './needle-table.ts';
import type { Ranges } from './ranges.ts';

/** Finds all needles of a table in a text. */
export class NeedleSearch {
  readonly #table: NeedleTable;
  /** Made with the first text: not every scrubber gets one. */
  #kernel: GramKernel | undefined;

  constructor(table: NeedleTable) {
    this.#table = table;
  }

  /** Notes where in the text needles stand. Linear, unless the text was made to look like the needles. */
  find(bytes: Buffer, found: Ranges): void {
    const { step, grams } = this.#table;
    this.#kernel ??= new GramKernel(grams);
    const { hits, partBytes } = this.#kernel;
    const end = bytes.length - GRAM_BYTES + 1;
    const stride = partBytes - (partBytes % step);
    for (let from = 0; from < end; from += stride) {
      const count = this.#kernel.look(bytes, { from, to: Math.min(from + stride, end), step });
      for (let hit = 0; hit < count; hit++) this.#lookUp(bytes, from + (hits[hit] ?? 0), found);
    }
  }

  /** How many bytes at the end of the text are the beginning, not the whole, of a needle: the most that are. */
  openBytes(bytes: Buffer): number {
    const { longest, byFirst } = this.#table;
    for (let start = Math.max(0, bytes.length - longest + 1); start < bytes.length; start++) {
      const first = bytes[start] ?? 0;
      const end = byFirst[first + 1] ?? 0;
      for (let needle = byFirst[first] ?? 0; needle < end; needle++) {
        const length = this.#lengthOf(needle);
        if (length > bytes.length - start && this.#equals(bytes, start, needle, bytes.length - start)) {
          return bytes.length - start;
        }
      }
    }
    return 0;
  }

  #lookUp(bytes: Buffer, position: number, found: Ranges): void {
    const gram = (bytes[position] ?? 0) | ((bytes[position + 1] ?? 0) << 8) | ((bytes[position + 2] ?? 0) << 16);
    const { slots, candidates } = this.#table;
    const mask = slots.length / 2 - 1;
    let slot = hashOf(gram) & mask;
    while (slots[2 * slot] !== gram + 1) {
      if (slots[2 * slot] === 0) return;
      slot = (slot + 1) & mask;
    }
    let candidate = slots[2 * slot + 1] ?? 0;
    while (true) {
      const needle = candidates[candidate] ?? 0;
      const start = position - (candidates[candidate + 1] ?? 0);
      const length = this.#lengthOf(needle);
      if (start >= 0 && start + length <= bytes.length && this.#equals(bytes, start, needle, length)) {
        found.add(start, start + length);
      }
      if (candidates[candidate + 2] === 0) return;
      candidate += CANDIDATE_INTS;
    }
  }

  #lengthOf(needle: number): number {
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
