/** Texts remembered; the one that was asked about longest ago goes first. */
const MAX_TEXTS = 1024;

/** Ranges of one text. Neighbours are merged: there is more than one only where parts were left out. */
const MAX_RANGES = 256;

interface Range {
  from: number;
  to: number;
}

/**
 * Ranges of texts in which nothing is masked. Whether a byte is masked depends on the text alone, never on which part of
 * it was read, so ranges can be put together. What is searched for has no part in it: it tells nothing about that.
 *
 * A text is named by the stamp of its file, which must be one that changes with every change of the file. That bytes are of
 * the text with this stamp is only known once the file still has it after they were read: see `CleanReads`.
 */
export class CleanRanges {
  /** By key, sorted by position. */
  readonly #texts = new Map<string, Range[]>();

  /** Whether nothing is masked in `[from, to)` of the text that has this key: its stamp, and the secrets that are masked. */
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
 * Reads of one text that rely on what is known of it, and add to it. When they are done, and before anyone gets what was
 * read, the stamp of the file is looked at again. If it is the same, `keep` is called; if not, and something was relied on,
 * what was read is thrown away and read anew without it.
 */
export class CleanReads {
  readonly #ranges: CleanRanges;
  readonly #added: { key: string; range: Range }[] = [];
  #reliedOn = false;

  constructor(ranges: CleanRanges) {
    this.#ranges = ranges;
  }

  /** Whether some of what was read is not masked because of what was known. */
  get reliedOn(): boolean {
    return this.#reliedOn;
  }

  /** Whether the stamp need be looked at. */
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
  /** Whether nothing is masked in `[from, to)`. */
  covers(from: number, to: number): boolean;
  /** Nothing was found to be masked there. */
  add(from: number, to: number): void;
}
