import type { BlockSummary, TailSummary } from '../scan/block/blocks.ts';
import type { SeekResult, VerifyResult } from '../scan/jobs.ts';
import type { BlockTimes, FileIndex, KeptGroups, KnownTimes } from './block-index.ts';

/**
 * The index of a file for one query, restricted to what is still true. A block is unchanged if the file has had the
 * same stamp ever since and was settled before; otherwise the hash of its bytes is compared. That is several times
 * faster than scanning them, and correct however the file was changed: appended to, edited in place, truncated and
 * rewritten, or with its timestamps set back.
 */
export class CheckedIndex {
  readonly #index: FileIndex;
  /** `undefined` if the file was changed so recently that a further change might not show in its stamp. */
  readonly #stamp: string | undefined;
  readonly #valid = new Set<number>();

  constructor(index: FileIndex, stamp: string | undefined) {
    this.#index = index;
    this.#stamp = stamp;
  }

  get(block: number): BlockSummary | undefined {
    return this.#isValid(block) ? this.#index.get(block) : undefined;
  }

  /** The summary of a block, verified or not. */
  peek(block: number): BlockSummary | undefined {
    return this.#index.get(block);
  }

  /** Not verified, see `FileIndex`. */
  times(slackAt: (timeMs: number) => number): KnownTimes {
    return this.#index.times(slackAt);
  }

  /** Whether nothing has to be verified: all that is known is known to be true. */
  get isProven(): boolean {
    return this.#stamp !== undefined && this.#index.isAllSettled(this.#stamp);
  }

  /** The summaries of blocks `[first, end)` that would be useful but must be verified first. */
  toVerify(first: number, end: number, isUseful: (summary: BlockSummary) => boolean): BlockSummary[] {
    const summaries: BlockSummary[] = [];
    if (this.isProven) return summaries;
    for (let block = first; block < end; block++) {
      const summary = this.#index.get(block);
      if (summary && !this.#isValid(block) && isUseful(summary)) summaries.push(summary);
    }
    return summaries;
  }

  /** Records the result of verifying these summaries. */
  noteVerified(summaries: readonly BlockSummary[], { valid, stale }: VerifyResult): void {
    const isStale = new Set(stale);
    for (const summary of summaries) if (isStale.has(summary.block)) this.#index.remove(summary);
    for (const block of valid) this.#noteValid(block);
  }

  /** What digests found; of a block only if it was made from the text of the summary. */
  get groups(): KeptGroups {
    return this.#index.groups;
  }

  /** Where a time range was found before, if the file has not changed since. */
  sought(range: string): SeekResult | undefined {
    return this.#stamp === undefined ? undefined : this.#index.sought(this.#stamp).get(range);
  }

  noteSought(range: string, result: SeekResult): void {
    if (this.#stamp !== undefined) this.#index.noteSought(this.#stamp, range, result);
  }

  /** Times of the incomplete last block, if the file has not changed since they were read. */
  lastTimes(block: number): BlockTimes | undefined {
    const times = this.#stamp === undefined ? undefined : this.#index.lastTimes(this.#stamp);
    return times?.block === block ? times : undefined;
  }

  noteLastTimes(times: BlockTimes): void {
    if (this.#stamp !== undefined) this.#index.noteLastTimes(this.#stamp, times);
  }

  noteTail(tail: TailSummary): void {
    this.#index.noteTail(tail);
  }

  /** Adds the summary of a block that was just read. */
  add(summary: BlockSummary): void {
    this.#index.add(summary);
    this.#noteValid(summary.block);
  }

  #isValid(block: number): boolean {
    return this.#valid.has(block) || (this.#stamp !== undefined && this.#index.isSettled(block, this.#stamp));
  }

  #noteValid(block: number): void {
    if (this.#stamp === undefined) this.#valid.add(block);
    else this.#index.settle(block, this.#stamp);
  }
}
