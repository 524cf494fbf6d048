import { grow } from './grow.ts';

const FIRST_SLOTS = 2 ** 8;
const FIRST_BYTES = 2 ** 12;

/** It is not in the table. */
export const NO_ID = -1;

/**
 * Values by their bytes, with ids in the order in which they were added. All bytes are in one array and nothing is on
 * the heap: a text for each of a million values would be garbage of a hundred MiB before it is collected.
 */
export class ValueTable {
  /** Nobody can choose values that collide. */
  readonly #seed = Math.floor(Math.random() * 2 ** 32);
  /** Ids plus one; zero: free. */
  #slots = new Int32Array(FIRST_SLOTS);
  #hashes = new Uint32Array(FIRST_SLOTS / 2);
  #ends = new Uint32Array(FIRST_SLOTS / 2);
  #text: Uint8Array<ArrayBuffer> = new Uint8Array(FIRST_BYTES);
  #size = 0;
  #lastHash = 0;

  get size(): number {
    return this.#size;
  }

  /** The bytes of all values, one behind the other, and where each ends; both arrays are longer than that. */
  get text(): Uint8Array<ArrayBuffer> {
    return this.#text;
  }

  get ends(): Uint32Array<ArrayBuffer> {
    return this.#ends;
  }

  startOf(id: number): number {
    return id === 0 ? 0 : (this.#ends[id - 1] ?? 0);
  }

  endOf(id: number): number {
    return this.#ends[id] ?? 0;
  }

  /** The id of the value `[start, end)`, or `NO_ID`. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const hash = this.#hash(bytes, start, end);
    this.#lastHash = hash;
    const mask = this.#slots.length - 1;
    for (let slot = slotFor(hash, mask); ; slot = (slot + 1) & mask) {
      const id = (this.#slots[slot] ?? 0) - 1;
      if (id < 0) return NO_ID;
      if (this.#hashes[id] === hash && this.#isAt(id, bytes, start, end)) return id;
    }
  }

  /** Adds the value that was not found last. */
  add(bytes: Uint8Array, start: number, end: number): number {
    const id = this.#size;
    const from = this.startOf(id);
    const to = from + end - start;
    this.#hashes = grow(this.#hashes, id + 1);
    this.#ends = grow(this.#ends, id + 1);
    this.#text = grow(this.#text, to);
    for (let at = 0; at < end - start; at++) this.#text[from + at] = bytes[start + at] ?? 0;
    this.#hashes[id] = this.#lastHash;
    this.#ends[id] = to;
    this.#size++;
    if (this.#size * 2 > this.#slots.length) {
      this.#slots = new Int32Array(this.#slots.length * 2);
      this.#fillSlots();
    } else this.#occupy(id);
    return id;
  }

  /** Only these values remain, in ascending order, and get new ids: their index in the list. */
  keep(ids: Uint32Array): void {
    let end = 0;
    for (let newId = 0; newId < ids.length; newId++) {
      const id = ids[newId] ?? 0;
      const from = this.startOf(id);
      const to = this.endOf(id);
      this.#text.copyWithin(end, from, to);
      end += to - from;
      // In place: it is the end of an id that is not needed any more, or the same as before.
      this.#ends[newId] = end;
      this.#hashes[newId] = this.#hashes[id] ?? 0;
    }
    this.#size = ids.length;
    this.#slots.fill(0);
    this.#fillSlots();
  }

  /** Keeps the memory. */
  clear(): void {
    this.#size = 0;
    this.#slots.fill(0);
  }

  textOf(id: number): string {
    return Buffer.from(this.#text.buffer).toString('utf8', this.startOf(id), this.endOf(id));
  }

  /** As JavaScript compares their texts. */
  compare(a: number, b: number): number {
    const startA = this.startOf(a);
    const startB = this.startOf(b);
    const lengthA = this.endOf(a) - startA;
    const lengthB = this.endOf(b) - startB;
    for (let at = 0; at < lengthA && at < lengthB; at++) {
      const byteA = this.#text[startA + at] ?? 0;
      const byteB = this.#text[startB + at] ?? 0;
      if (byteA !== byteB) return utf16Order(byteA) - utf16Order(byteB);
    }
    return lengthA - lengthB;
  }

  #fillSlots(): void {
    for (let id = 0; id < this.#size; id++) this.#occupy(id);
  }

  #occupy(id: number): void {
    const mask = this.#slots.length - 1;
    let slot = slotFor(this.#hashes[id] ?? 0, mask);
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = id + 1;
  }

  #isAt(id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.startOf(id);
    if (this.endOf(id) - from !== end - start) return false;
    for (let at = 0; at < end - start; at++) if (this.#text[from + at] !== bytes[start + at]) return false;
    return true;
  }

  #hash(bytes: Uint8Array, start: number, end: number): number {
    let hash = this.#seed;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
    return hash >>> 0;
  }
}

function slotFor(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15)) & mask;
}

/** UTF-16 has characters beyond U+FFFF before those from U+E000 on, UTF-8 behind them. */
function utf16Order(byte: number): number {
  return byte === 0xee || byte === 0xef ? byte + 0x10 : byte;
}
