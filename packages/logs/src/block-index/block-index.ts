import type { BlockCheck, BlockSummary, TailSummary } from '../scan/jobs.ts';

/** Memory of one block's summary, roughly, for the bound. */
const BLOCK_COST_BYTES = 160;
const ERROR_COST_BYTES = 8;

/**
 * What earlier scans found in the blocks of one file. Complete blocks only: as long as a log is appended to, they do not
 * change any more. Whether that is so is for `CheckedIndex` to check.
 */
export class FileIndex {
  readonly #blocks = new Map<number, BlockSummary>();
  costBytes = 0;
  /** Blocks that were read while the file had this stamp, and had been left alone for long enough. */
  #settled: { stamp: string; blocks: Set<number> } = { stamp: '', blocks: new Set() };
  /** Behind the last block that was ever known. */
  #end = 0;
  #times: KnownTimes | undefined;
  /** Of the last block as it was: its records are still there, whatever has been written since. */
  #tail: TailSummary | undefined;

  get(block: number): BlockSummary | undefined {
    return this.#blocks.get(block);
  }

  /**
   * What all blocks together say about times, whether or not they were verified: enough to be careful. `slackAt`: how
   * much out of order is usual at a time.
   */
  times(slackAt: (timeMs: number) => number): KnownTimes {
    this.#times ??= this.#collectTimes(slackAt);
    return this.#times;
  }

  #collectTimes(slackAt: (timeMs: number) => number): KnownTimes {
    const times = { minMs: Infinity, maxMs: -Infinity, isInOrder: true };
    for (let block = 0; block < Math.max(this.#end, (this.#tail?.block ?? -1) + 1); block++) {
      const all = this.#blocks.get(block)?.all ?? (block === this.#tail?.block ? this.#tail.all : undefined);
      if (!all || all.minMs > all.maxMs) continue;
      const lateMs = Math.max(all.lateMs, times.maxMs - all.minMs);
      if (lateMs > slackAt(all.minMs)) times.isInOrder = false;
      times.minMs = Math.min(times.minMs, all.minMs);
      times.maxMs = Math.max(times.maxMs, all.maxMs);
    }
    return times;
  }

  noteTail(tail: TailSummary): void {
    this.#tail = tail;
    this.#times = undefined;
  }

  /** One of the same text takes the place of the known one only if it tells more. */
  add(summary: BlockSummary): void {
    const known = this.#blocks.get(summary.block);
    if (known && isSameText(known.check, summary.check) && (known.all || !summary.all)) return;
    this.#blocks.set(summary.block, summary);
    this.#end = Math.max(this.#end, summary.block + 1);
    this.#times = undefined;
    this.costBytes += summaryCost(summary) - (known ? summaryCost(known) : 0);
  }

  /** Unless it has become another meanwhile. */
  remove(summary: BlockSummary): void {
    if (this.#blocks.get(summary.block) !== summary) return;
    this.#blocks.delete(summary.block);
    this.#times = undefined;
    this.costBytes -= summaryCost(summary);
  }

  settle(block: number, stamp: string): void {
    if (this.#settled.stamp !== stamp) this.#settled = { stamp, blocks: new Set() };
    this.#settled.blocks.add(block);
  }

  isSettled(block: number, stamp: string): boolean {
    return this.#settled.stamp === stamp && this.#settled.blocks.has(block);
  }
}

function isSameText(a: BlockCheck, b: BlockCheck): boolean {
  return a.hash === b.hash && a.bytes === b.bytes && a.scrubbed === b.scrubbed;
}

/** Times are infinite where none is known. */
export interface KnownTimes {
  minMs: number;
  maxMs: number;
  /** No record is known to be further out of order than usual. */
  isInOrder: boolean;
}

function summaryCost({ errors }: BlockSummary): number {
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
  get(key: string): FileIndex {
    const index = this.#files.get(key) ?? new FileIndex();
    this.#files.delete(key);
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
