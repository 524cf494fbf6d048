import type { ScanKernel } from '../kernel/scan-kernel.ts';

/** Parts cached: 16 GiB of text, with a few bytes for each. */
const MAX_PARTS = 65_536;

/** More than the bytes of any part: combines a hash and a length in one number. */
const LENGTHS = 2 ** 20;

/**
 * Parts without secrets of texts that are still being written, by the hash of the part and its surroundings: computing
 * it takes half as long as searching for secrets again. Independent of the query, so that timing reveals nothing about
 * secrets.
 */
export class CleanParts {
  readonly #kernel: ScanKernel;
  /** By text and the secrets that are masked in it, then by position. */
  readonly #texts = new Map<string, Map<number, number>>();
  #count = 0;

  constructor(kernel: ScanKernel) {
    this.#kernel = kernel;
  }

  of(key: string): HashedParts {
    return {
      hash: (bytes) => this.#hash(bytes),
      has: (position, hash) => this.#texts.get(key)?.get(position) === hash,
      add: (position, hash) => this.#add(key, position, hash),
    };
  }

  /** Only for bytes in the kernel's memory: they are hashed in place. */
  #hash(bytes: Buffer): number | undefined {
    const from = bytes.byteOffset - this.#kernel.text.byteOffset;
    if (bytes.buffer !== this.#kernel.text.buffer || bytes.length >= LENGTHS) return undefined;
    return this.#kernel.checksum(from, from + bytes.length) * LENGTHS + bytes.length;
  }

  #add(key: string, position: number, hash: number): void {
    if (this.#count >= MAX_PARTS) {
      this.#texts.clear();
      this.#count = 0;
    }
    const parts = this.#texts.get(key) ?? new Map<number, number>();
    this.#texts.set(key, parts);
    if (!parts.has(position)) this.#count++;
    parts.set(position, hash);
  }
}

export interface HashedParts {
  /** `undefined` for bytes that are not cached. */
  hash(bytes: Buffer): number | undefined;
  has(position: number, hash: number): boolean;
  add(position: number, hash: number): void;
}
