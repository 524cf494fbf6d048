import type { BlockSummary } from '../scan/jobs.ts';

/** Memory of one block's summary, roughly, for the bound. */
const BLOCK_COST_BYTES = 160;
const ERROR_COST_BYTES = 8;

/** What earlier scans found in the blocks of one file. Complete blocks only: they do not change any more. */
export class FileIndex {
  readonly #blocks = new Map<number, BlockSummary>();
  costBytes = 0;
  /** Bytes the file must still have for this to be of it. */
  #coveredBytes = 0;

  get(block: number): BlockSummary | undefined {
    return this.#blocks.get(block);
  }

  get coveredBytes(): number {
    return this.#coveredBytes;
  }

  add(summary: BlockSummary, endBytes: number): void {
    const known = this.#blocks.get(summary.block);
    if (known && (known.all || !summary.all)) return;
    this.#blocks.set(summary.block, summary);
    this.costBytes += costOf(summary) - (known ? costOf(known) : 0);
    this.#coveredBytes = Math.max(this.#coveredBytes, endBytes);
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

  /** The index of a file by its identity. One that knows of more than the file has belongs to another and is dropped. */
  of(key: string, textBytes: number): FileIndex {
    const known = this.#files.get(key);
    this.#files.delete(key);
    const index = known && known.coveredBytes <= textBytes ? known : new FileIndex();
    this.#files.set(key, index);
    return index;
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
