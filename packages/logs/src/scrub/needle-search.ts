import { MIN_NEEDLE_BYTES } from './needle-forms.ts';
import { CANDIDATE_INTS, GRAM_BYTES, hashOf, type NeedleTable } from './needle-table.ts';
import type { Ranges } from './ranges.ts';

/** Finds all needles of a table in a text. */
export class NeedleSearch {
  readonly #table: NeedleTable;

  constructor(table: NeedleTable) {
    this.#table = table;
  }

  /** Notes where in the text needles stand. Linear, unless the text was made to look like the needles. */
  find(bytes: Buffer, found: Ranges): void {
    if (bytes.length < MIN_NEEDLE_BYTES) return;
    const { step, grams } = this.#table;
    const { words, skipped } = wordsOf(bytes);
    const stride = step / 4;
    let at = nextHit(words, grams, 0, stride);
    while (at + 3 * stride < words.length) {
      for (let part = 0; part < 4; part++) this.#lookUp(bytes, skipped + 4 * (at + part * stride), found);
      at = nextHit(words, grams, at + 4 * stride, stride);
    }
    for (let position = skipped + 4 * at; position + GRAM_BYTES <= bytes.length; position += step) {
      this.#lookUp(bytes, position, found);
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
    const { grams, slots, candidates } = this.#table;
    if (grams[hashOf(gram)] === 0) return;
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

/**
 * Where the next four words begin of which one has a gram that is looked for; beyond the last four where none has. All
 * four are looked up before any is waited for. The types say that a word may be missing: asking would take half of the time.
 */
function nextHit(words: Int32Array, grams: Uint8Array, from: number, stride: number): number {
  const last = words.length - 3 * stride;
  let at = from;
  for (; at < last; at += 4 * stride) {
    const any =
      (grams[hashOf(words[at] as number)] as number) |
      (grams[hashOf(words[at + stride] as number)] as number) |
      (grams[hashOf(words[at + 2 * stride] as number)] as number) |
      (grams[hashOf(words[at + 3 * stride] as number)] as number);
    if (any !== 0) return at;
  }
  return at;
}

/** The text in words of four bytes, from the first position where the memory lets one begin. */
function wordsOf(bytes: Buffer): { words: Int32Array; skipped: number } {
  const skipped = -bytes.byteOffset & 3;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + skipped, (bytes.length - skipped) >> 2);
  return { words, skipped };
}
