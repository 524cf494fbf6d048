/** Longer values are looked up as text. */
const MAX_BYTES = 48;

const SLOTS = 2 ** 14;
const MAX_USED = SLOTS / 2;

/** It is not known. */
export const NO_ID = -2;

/** Ids of values by their bytes, so that no text is created for a value that is already known. */
export class ValueIds {
  readonly #ids = new Int32Array(SLOTS);
  readonly #lengths = new Uint8Array(SLOTS);
  readonly #texts = new Uint8Array(SLOTS * MAX_BYTES);
  #used = 0;
  #generation = 0;
  /** Where the value that was not found belongs; negative: nowhere. */
  #slot = -1;

  /** The id that was set for the value `[start, end)` in this generation, or `NO_ID`. */
  find(bytes: Buffer, start: number, end: number, generation: number): number {
    const length = end - start;
    this.#slot = -1;
    if (length > MAX_BYTES || length === 0) return NO_ID;
    if (generation !== this.#generation || this.#used > MAX_USED) this.#clear(generation);
    let hash = 0x811c9dc5;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
    let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    while ((this.#lengths[slot] ?? 0) > 0) {
      if (this.#isAt(slot, bytes, start, length)) return this.#ids[slot] ?? NO_ID;
      slot = (slot + 1) & (SLOTS - 1);
    }
    this.#slot = slot;
    return NO_ID;
  }

  /** Sets the id of the value that was not found last. */
  set(bytes: Buffer, start: number, end: number, id: number): void {
    const slot = this.#slot;
    if (slot < 0) return;
    this.#ids[slot] = id;
    this.#lengths[slot] = end - start;
    for (let at = start, text = slot * MAX_BYTES; at < end; at++, text++) this.#texts[text] = bytes[at] ?? 0;
    this.#used++;
  }

  #isAt(slot: number, bytes: Buffer, start: number, length: number): boolean {
    if (this.#lengths[slot] !== length) return false;
    const text = slot * MAX_BYTES;
    for (let at = 0; at < length; at++) if (this.#texts[text + at] !== bytes[start + at]) return false;
    return true;
  }

  #clear(generation: number): void {
    this.#generation = generation;
    this.#lengths.fill(0);
    this.#used = 0;
  }
}
