import type { BlockSummary } from '../scan/jobs.ts';

/** Memory of one block's summary, roughly, for the bound. */
const BLOCK_COST_BYTES = 160;
const ERROR_COST_BYTES = 8;

/** What earlier scans found in the blocks of one file. Complete blocks only: they do not change any more. */
export class FileIndex {
  readonly #blocks = new Map<number, BlockSummary>();
  costBytes = 0;
  /** The last block known: the file must still end it like this for any of it to be true. */
  #last: BlockSummary | undefined;

  get(block: number): BlockSummary | undefined {
    return this.#blocks.get(block);
  }

  get last(): BlockSummary | undefined {
    return this.#last;
  }

  add(summary: BlockSummary): void {
    const known = this.#blocks.get(summary.block);
    if (known && (known.all || !summary.all)) return;
    this.#blocks.set(summary.block, summary);
    this.costBytes += costOf(summary) - (known ? costOf(known) : 0);
    if (!this.#last || summary.block >= this.#last.block) this.#last = summary;
  }
}

function costOf({ errors }: BlockSummary): number {
  return BLOCK_COST_BYTES + (errors?.length ?? 0) * ERROR_COST_BYTES;
}

/**
 * The memory of what was scanned, by file. Bounded: the file that was not asked about for longest goes first. Nothing
 * depends on it but speed.
 */
export class BlockIndexes {
  readonly #maxBytes: number;
  readonly #files = new Map<string, FileIndex>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get costBytes(): number {
    let sum = 0;
    for (const { costBytes } of this.#files.values()) sum += costBytes;
    return sum;
  }

  /** What is known of a file, by its identity. Whether it is still true is for the caller to check. */
  of(key: string): FileIndex {
    const index = this.#files.get(key) ?? new FileIndex();
    this.#files.delete(key);
    this.#files.set(key, index);
    return index;
  }

  drop(key: string): void {
    this.#files.delete(key);
  }

  trim(): void {
    for (let over = this.costBytes - this.#maxBytes; over > 0; ) {
      const [oldest] = this.#files;
      if (!oldest) return;
      this.#files.delete(oldest[0]);
      over -= oldest[1].costBytes;
    }
  }
}
