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

/** Longer values are cut. */
export const MAX_VALUE_LENGTH = 256;

/** Separates what is shown of a long value from the hash of all of it. */
const SEPARATOR = '…\0';

/** Halves of a pair of surrogates: they have no UTF-8, in which values are sent between threads. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * What a value is identified by: itself, or if it is long, its start and a hash of 64 bits. So a table of values has a
 * limit in bytes, whatever is logged.
 */
export function boundedValue(text: string, maxLength: number = MAX_VALUE_LENGTH): string {
  const value = LONE_SURROGATE.test(text) ? Buffer.from(text).toString() : text;
  if (value.length <= maxLength) return value;
  const hash = [1, 2].map((seed) => textHash(value, seed).toString(36)).join('.');
  return `${cutValue(value, maxLength)}${SEPARATOR}${hash}`;
}

/** What is shown of it: a long value is cut and ends in `…`. */
export function shownValue(bounded: string, maxLength: number = MAX_VALUE_LENGTH): string {
  return bounded.length <= maxLength ? bounded : bounded.slice(0, bounded.lastIndexOf(SEPARATOR) + 1);
}

/** No pair of surrogates is cut in two. */
function cutValue(value: string, maxLength: number): string {
  const end = maxLength - 1;
  const isPair = (value.codePointAt(end - 1) ?? 0) > 0xffff;
  return value.slice(0, isPair ? end - 1 : end);
}

const FIRST = 0x811c9dc5;
const PRIME = 0x01000193;

/** 32 bits that look random, for each seed others: FNV-1a over the text's code units, mixed as MurmurHash ends. */
export function textHash(text: string, seed: number): number {
  let hash = FIRST ^ seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return mix(hash);
}

/** The same over the bytes `[start, end)`. */
export function bytesHash(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = FIRST ^ seed;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), PRIME);
  return mix(hash);
}

function mix(unmixed: number): number {
  let hash = unmixed;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

type Numbers = Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** The same numbers with room for `length`; at least twice as many as before, so that growing stays cheap. */
export function grow<T extends Numbers>(numbers: T, length: number): T {
  if (length <= numbers.length) return numbers;
  const larger = new (numbers.constructor as new (length: number) => T)(Math.max(length, numbers.length * 2));
  larger.set(numbers);
  return larger;
}

/** More than is needed now, so that the next result, which is a bit larger, fits, too. */
const SPARE_SHARE = 1.25;

/**
 * Memory for packed counts, which travels between the threads: results of some MiB for each job would be garbage of a
 * hundred MiB before it is collected.
 */
export type PackRoom = readonly ArrayBuffer[];

/** An array with room for so many numbers: in one of the buffers, if it is large enough. */
export function numbersIn<T extends Numbers>(
  type: new (buffer: ArrayBuffer, start: number, length: number) => T,
  { length, bytesEach }: { length: number; bytesEach: number },
  buffer: ArrayBuffer | undefined,
): T {
  const bytes = length * bytesEach;
  const isLarge = buffer !== undefined && buffer.byteLength >= bytes;
  return new type(isLarge ? buffer : new ArrayBuffer(Math.ceil(bytes * SPARE_SHARE)), 0, length);
}

/** A copy, in the buffer if it is large enough. */
export function copyInto<T extends Numbers>(numbers: T, buffer: ArrayBuffer | undefined): T {
  const type = numbers.constructor as new (buffer: ArrayBuffer, start: number, length: number) => T;
  const copy = numbersIn(type, { length: numbers.length, bytesEach: numbers.BYTES_PER_ELEMENT }, buffer);
  copy.set(numbers);
  return copy;
}
