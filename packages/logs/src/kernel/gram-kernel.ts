import { WASM_BASE64 } from './grams-wasm.ts';
import { type LoadedWasm, loadWasm } from './load-wasm.ts';

const ADDRESSES = ['GRAMS', 'INTRODUCERS', 'FOLLOW', 'PAIRS', 'FIRSTS', 'HITS', 'TEXT'] as const;

type Addresses = Readonly<Record<(typeof ADDRESSES)[number], number>>;

interface Exports {
  findGrams(grams: number, text: number, length: number, step: number, hits: number): number;
  escapes(introducers: number, text: number, length: number, hits: number): number;
}

/** Search tables, see `NeedleTable`. */
export interface GramTables {
  /** For each hash a byte, with a bit for every tag of a gram that occurs in a needle. */
  grams: Uint8Array;
  /** Indexed by the low four bits of a byte: the byte that begins an escape sequence. */
  introducers: Uint8Array;
  /** Indexed by the byte after an introducer: a bit for each introducer it may follow within a secret. */
  follow: Uint8Array;
  /** A bit for each pair of bytes that occurs in a needle. */
  pairs: Uint8Array;
  /** By byte: whether a needle begins with it. */
  firsts: Uint8Array;
}

export interface ScannedRange {
  /** Range in which grams and escape sequences may begin; they may extend beyond it. */
  from: number;
  to: number;
}

/** The compiled inner loops for searching many texts at once, and the memory they work on. */
export class GramKernel {
  /** Hits of the last search: positions counted from `from`. */
  readonly hits: Uint32Array;
  /** Maximum length of text searched at a time. */
  readonly partBytes: number;
  readonly #buffer: ArrayBuffer;
  readonly #exports: Exports;
  /** Addresses in its memory; cached, because reading them is slower than searching a short text. */
  readonly #at: Addresses;
  /** Where text is copied to; absent in a kernel whose memory already holds the text. */
  readonly #text: Uint8Array | undefined;
  #tables: GramTables | undefined;

  /** `loaded` contains the scrubbing loops among others; without it, a separate memory is created. */
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

  /** Whether these bytes can be searched in place. */
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

  /** Looks up the grams at every `step`th position, at least four. Returns the number of hits. */
  findGrams(bytes: Uint8Array, { from, to, step }: ScannedRange & { step: number }): number {
    const { GRAMS, HITS } = this.#at;
    return this.#exports.findGrams(GRAMS, this.#textAddress(bytes, from, to), to - from, step, HITS);
  }

  /** Finds escape sequences in the bytes that `findGrams` searched last. Returns the number of hits. */
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

/**
 * A gram, or the part of an escape decoded here, that begins at the last position ends within this many bytes after it.
 */
const REST_BYTES = 64;
