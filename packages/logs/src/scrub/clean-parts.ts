import type { ScanKernel } from '../kernel/scan-kernel.ts';

/** Parts remembered: 16 GiB of text, with some bytes for each. */
const MAX_PARTS = 65_536;

/** More than any part has bytes: a hash and a length are one number. */
const LENGTHS = 2 ** 20;

/**
 * Parts of texts in which no secret was found, by the stamp of their file, or by the hash of what they were where it is
 * still written to: to compute that takes a fraction of looking for secrets again. What is looked for in a text has no part in it, so that it tells nothing about that.
 */
export class CleanParts {
  readonly #kernel: ScanKernel;
  /** By file and the secrets it was searched for, then by position. */
  readonly #files = new Map<string, Map<number, number>>();
  #count = 0;

  constructor(kernel: ScanKernel) {
    this.#kernel = kernel;
  }

  /** Those of one text. With a stamp that changes with every change of it, its bytes need not be looked at. */
  of(key: string, stamp?: string): CleanText {
    const stamped = stamp === undefined ? key : `${key}:${stamp}`;
    return {
      isStamped: stamp !== undefined,
      hashOf: (bytes) => (stamp === undefined ? this.#hashOf(bytes) : bytes.length),
      has: (position, hash) => this.#files.get(stamped)?.get(position) === hash,
      add: (position, hash) => this.#add(stamped, position, hash),
    };
  }

  /** Of bytes in the kernel's text; they are looked at where they are. */
  #hashOf(bytes: Buffer): number | undefined {
    const from = bytes.byteOffset - this.#kernel.text.byteOffset;
    if (bytes.buffer !== this.#kernel.text.buffer || bytes.length >= LENGTHS) return undefined;
    return this.#kernel.checksum(from, from + bytes.length) * LENGTHS + bytes.length;
  }

  #add(key: string, position: number, hash: number): void {
    if (this.#count >= MAX_PARTS) {
      this.#files.clear();
      this.#count = 0;
    }
    const parts = this.#files.get(key) ?? new Map<number, number>();
    this.#files.set(key, parts);
    if (!parts.has(position)) this.#count++;
    parts.set(position, hash);
  }
}

export interface CleanText {
  /** What is known is known of what stands around it, too. */
  isStamped: boolean;
  /** `undefined` for bytes that are not remembered. */
  hashOf(bytes: Buffer): number | undefined;
  has(position: number, hash: number): boolean;
  add(position: number, hash: number): void;
}
