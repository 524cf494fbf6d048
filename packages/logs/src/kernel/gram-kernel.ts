import { WASM_BASE64 } from './grams-wasm.ts';
import { loadWasm } from './load-wasm.ts';

/** The compiled inner loop of looking for many texts at once, and the memory it works on. */
export class GramKernel {
  /** Of the last look: where grams may have been found, counted from its start. */
  readonly hits: Uint32Array;
  /** As much text as is looked through at a time. */
  readonly partBytes: number;
  readonly #text: Uint8Array;
  readonly #look: (to: number, step: number) => number;

  /** For each hash a byte, with a bit for every tag of a gram that is looked for. */
  constructor(grams: Uint8Array) {
    const { buffer, exports, constant: at } = loadWasm(WASM_BASE64);
    new Uint8Array(buffer, at('GRAMS'), at('GRAM_HASHES')).set(grams);
    this.hits = new Uint32Array(buffer, at('HITS'), at('MAX_HITS'));
    this.partBytes = at('TEXT_BYTES');
    // Where a gram begins at the last position, the rest of it lies behind.
    this.#text = new Uint8Array(buffer, at('TEXT'), at('TEXT_BYTES') + READS_BEYOND);
    this.#look = exports.look as (to: number, step: number) => number;
  }

  /** Looks at every so many positions of `[from, to)`, four at least; grams may reach beyond. Tells how many hits there are. */
  look(bytes: Uint8Array, { from, to, step }: { from: number; to: number; step: number }): number {
    this.#text.set(bytes.subarray(from, to + READS_BEYOND));
    return this.#look(to - from, step);
  }
}

/** Grams are three bytes long. */
const READS_BEYOND = 2;
