import { WASM_BASE64 } from './grams-wasm.ts';
import { type LoadedWasm, loadWasm } from './load-wasm.ts';

const ADDRESSES = ['GRAMS', 'INTRODUCERS', 'FOLLOW', 'PAIRS', 'FIRSTS', 'HITS', 'TEXT'] as const;

type Addresses = Readonly<Record<(typeof ADDRESSES)[number], number>>;

interface Exports {
  look(grams: number, text: number, length: number, step: number, hits: number): number;
  escapes(introducers: number, text: number, length: number, hits: number): number;
}

/** What is looked for. */
export interface GramTables {
  /** For each hash a byte, with a bit for every tag of a gram that is looked for. */
  grams: Uint8Array;
  /** By the low four bits of a byte: the one that begins an escape sequence. */
  introducers: Uint8Array;
  /** By the byte behind an introducer: a bit for each introducer with which it may be a part of a secret. */
  follow: Uint8Array;
  /** A bit for each pair of bytes in what is looked for. */
  pairs: Uint8Array;
  /** By byte: whether something that is looked for begins with it. */
  firsts: Uint8Array;
}

export interface ScannedRange {
  /** Beginnings of grams and of escape sequences; what follows them may reach beyond. */
  from: number;
  to: number;
}

/** The compiled inner loops of looking for many texts at once, and the memory they work on. */
export class GramKernel {
  /** Of the last look: positions that were found, counted from `from`. */
  readonly hits: Uint32Array;
  /** As much text as may be looked through at a time. */
  readonly partBytes: number;
  readonly #buffer: ArrayBuffer;
  readonly #exports: Exports;
  /** Addresses in its memory: reading them is slower than a look at a short text. */
  readonly #at: Addresses;
  /** Where text is copied to; absent in the memory of a kernel whose text lies there already. */
  readonly #text: Uint8Array | undefined;
  #tables: GramTables | undefined;

  /** `loaded` has the loops of scrubbing beside others; without, memory of its own is made. */
  constructor(loaded?: LoadedWasm) {
    const { buffer, exports, constant } = loaded ?? loadWasm(WASM_BASE64);
    this.#buffer = buffer;
    this.#exports = exports as unknown as Exports;
    this.#at = Object.fromEntries(
      ADDRESSES.map((name) => [name, name === 'TEXT' && loaded ? 0 : constant(name)]),
    ) as Addresses;
    this.hits = new Uint32Array(buffer, constant('HITS'), constant('MAX_HITS'));
    this.partBytes = constant('MAX_HITS');
    this.#text = loaded ? undefined : new Uint8Array(buffer, constant('TEXT'), this.partBytes + REST_BYTES);
  }

  /** Whether these bytes can be looked at where they are. */
  holds(bytes: Uint8Array): boolean {
    return bytes.buffer === this.#buffer;
  }

  use(tables: GramTables): void {
    if (tables === this.#tables) return;
    const { GRAMS, INTRODUCERS, FOLLOW, PAIRS, FIRSTS } = this.#at;
    const set = (at: number, table: Uint8Array) => new Uint8Array(this.#buffer, at, table.length).set(table);
    set(GRAMS, tables.grams);
    set(INTRODUCERS, tables.introducers);
    set(FOLLOW, tables.follow);
    set(PAIRS, tables.pairs);
    set(FIRSTS, tables.firsts);
    this.#tables = tables;
  }

  /** Looks up the grams at every so many positions, four at least. Returns how many hits there are. */
  findGrams(bytes: Uint8Array, { from, to, step }: ScannedRange & { step: number }): number {
    const { GRAMS, HITS } = this.#at;
    return this.#exports.look(GRAMS, this.#textAddress(bytes, from, to), to - from, step, HITS);
  }

  /** Looks for escape sequences in what `look` has looked at last. Returns how many hits there are. */
  escapes(bytes: Uint8Array, { from, to }: ScannedRange): number {
    const { INTRODUCERS, HITS, TEXT } = this.#at;
    const text = this.#text ? TEXT : bytes.byteOffset + from;
    return this.#exports.escapes(INTRODUCERS, text, to - from, HITS);
  }

  /** The address of the text. */
  #textAddress(bytes: Uint8Array, from: number, to: number): number {
    if (!this.#text) return bytes.byteOffset + from;
    this.#text.set(bytes.subarray(from, to + REST_BYTES));
    return this.#at.TEXT;
  }
}

/** A gram, or what is read here of an escape, that begins at the last position ends within so many bytes behind it. */
const REST_BYTES = 64;
