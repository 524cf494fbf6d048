import type { BlockSummary, TailSummary, VerifyResult } from '../scan/jobs.ts';
import type { FileIndex, KnownTimes } from './block-index.ts';

/**
 * What is known of a file, for one query: only what is still true. A block is taken for what it was if the file has had
 * the same stamp ever since and was left alone before that; otherwise its bytes are compared, by their hash. That is
 * several times as quick as scanning them, and right however the file was changed: appended to, edited in place, cut
 * and written anew, its times set back.
 */
export class CheckedIndex {
  readonly #index: FileIndex;
  /** `undefined` where the file was changed so lately that a further change need not show in its stamp. */
  readonly #stamp: string | undefined;
  readonly #valid = new Set<number>();

  constructor(index: FileIndex, stamp: string | undefined) {
    this.#index = index;
    this.#stamp = stamp;
  }

  get(block: number): BlockSummary | undefined {
    return this.#isValid(block) ? this.#index.get(block) : undefined;
  }

  /** What was known of a block, true or not. */
  peek(block: number): BlockSummary | undefined {
    return this.#index.get(block);
  }

  /** See `FileIndex`: not verified. */
  times(slackAt: (timeMs: number) => number): KnownTimes {
    return this.#index.times(slackAt);
  }

  /** What is known of the blocks `[first, end)`, would be of use, and must be verified first. */
  toVerify(first: number, end: number, isUseful: (summary: BlockSummary) => boolean): BlockSummary[] {
    const summaries: BlockSummary[] = [];
    for (let block = first; block < end; block++) {
      const summary = this.#index.get(block);
      if (summary && !this.#isValid(block) && isUseful(summary)) summaries.push(summary);
    }
    return summaries;
  }

  /** Takes what was found out about these summaries. */
  noteVerified(summaries: readonly BlockSummary[], { valid, stale }: VerifyResult): void {
    const isStale = new Set(stale);
    for (const summary of summaries) if (isStale.has(summary.block)) this.#index.remove(summary);
    for (const block of valid) this.#noteValid(block);
  }

  noteTail(tail: TailSummary): void {
    this.#index.noteTail(tail);
  }

  /** Of a block as it was just read. */
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
