import type { ScanKernel } from '../kernel/scan-kernel.ts';

/** Texts cached; the least recently used is evicted first. */
const MAX_TEXTS = 1024;

/** Ranges of one text. Neighbours are merged: there is more than one only if parts were skipped. */
const MAX_RANGES = 256;

interface Range {
  from: number;
  to: number;
}

/**
 * Ranges of texts without secrets. Whether a byte is masked depends on the text alone, never on which part of it was
 * read, so ranges can be merged. Independent of the query, so that timing reveals nothing about secrets.
 *
 * A text is identified by the stamp of its file, which must change with every change of the file. Bytes are only known
 * to belong to that text if the file still has the stamp after they were read: see `CleanReads`.
 */
export class CleanRanges {
  /** By key, sorted by position. */
  readonly #texts = new Map<string, Range[]>();

  /** Whether `[from, to)` contains no secrets in the text with this key: its stamp, and the secrets that are masked. */
  covers(key: string, from: number, to: number): boolean {
    return (this.#texts.get(key) ?? []).some((range) => range.from <= from && to <= range.to);
  }

  add(key: string, added: Range): void {
    const known = this.#texts.get(key) ?? [];
    const before = known.filter(({ to }) => to < added.from);
    const behind = known.filter(({ from }) => from > added.to);
    let { from, to } = added;
    for (const near of known.slice(before.length, known.length - behind.length)) {
      from = Math.min(from, near.from);
      to = Math.max(to, near.to);
    }
    this.#texts.delete(key);
    this.#texts.set(key, [...before, { from, to }, ...behind].slice(-MAX_RANGES));
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MAX_TEXTS) break;
      this.#texts.delete(oldest);
    }
  }
}

/**
 * Reads of one text that rely on known clean ranges, and add to them. Afterwards, before the data is returned, the
 * stamp of the file is checked again. If it is unchanged, `keep` is called; if not, and a range was relied on, the data
 * is discarded and read again without them.
 */
export class CleanReads {
  readonly #ranges: CleanRanges;
  readonly #added: { key: string; range: Range }[] = [];
  #reliedOn = false;

  constructor(ranges: CleanRanges) {
    this.#ranges = ranges;
  }

  /** Whether some of the data was not scanned for secrets because its range was known to be clean. */
  get reliedOn(): boolean {
    return this.#reliedOn;
  }

  /** Whether the stamp must be checked. */
  get isUsed(): boolean {
    return this.#reliedOn || this.#added.length > 0;
  }

  of(key: string): CleanText {
    return {
      covers: (from, to) => {
        const isCovered = this.#ranges.covers(key, from, to);
        this.#reliedOn ||= isCovered;
        return isCovered;
      },
      add: (from, to) => this.#added.push({ key, range: { from, to } }),
    };
  }

  keep(): void {
    for (const { key, range } of this.#added) this.#ranges.add(key, range);
  }
}

export interface CleanText {
  /** Whether `[from, to)` contains no secrets. */
  covers(from: number, to: number): boolean;
  /** No secrets were found there. */
  add(from: number, to: number): void;
}

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
