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
