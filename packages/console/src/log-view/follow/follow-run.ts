import { type ClusterFollowItem, codeOf, ERROR_KINDS } from '@porthole/client';
import type { WorkspaceClock } from '../model/workspace-clock.ts';
import type { FollowFrom, LogSource, RowFilter, ShownRecord } from '../source/log-source.ts';
import { recordKey } from '../source/record-key.ts';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;

/** Where it goes on by time it goes back so far, because a slower node may write what is older a little later. */
const OVERLAP_MS = 5000;

/** Records of which is remembered that they were told, at least: that time at some thousand per second. */
const REMEMBERED = 10_000;

export interface FollowRunDeps {
  source: LogSource;
  filter: RowFilter;
  clock: WorkspaceClock;
  /** The newest record that is known; `undefined`: it begins at the end. */
  newest: ShownRecord | undefined;
  /** What is older is not wanted, however late it comes. */
  sinceMs: number | undefined;
  /** Records that are known, by their keys. */
  known: Iterable<string>;
  /** What was not told before. Also called without items: then the connection stands. */
  onItems(items: readonly ClusterFollowItem[]): void;
  onLost(reason: string): void;
  /** It could not go on where it was: records may be missing. */
  onGone(): void;
}

/** Follows for as long as it takes: begins again behind the last record whenever it ends. */
export class FollowRun {
  readonly #deps: FollowRunDeps;
  readonly #stopping = new AbortController();
  /** The newest that were told, and those before them. */
  #delivered: Set<string>;
  #deliveredBefore = new Set<string>();
  /** Where it begins again when no record tells: by its clock if one was told, else by ours. */
  #sinceMs: number;
  #last: ShownRecord | undefined;

  constructor(deps: FollowRunDeps) {
    this.#deps = deps;
    this.#delivered = new Set(deps.known);
    this.#last = deps.newest;
    this.#sinceMs = deps.clock.now() - OVERLAP_MS;
    void this.#run(this.#last ? this.#startAfter(this.#last) : 'end');
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #run(first: FollowFrom): Promise<void> {
    const { clock, onLost } = this.#deps;
    const { signal } = this.#stopping;
    let from = first;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      const { reason, hasStood } = await this.#followFrom(from);
      if (signal.aborted) return;
      if (hasStood) waitMs = FIRST_WAIT_MS;
      onLost(reason);
      await clock.wait(waitMs, signal);
      if (signal.aborted) return;
      from = this.#last ? this.#startAfter(this.#last) : { timeMs: this.#sinceMs };
    }
  }

  async #followFrom(from: FollowFrom): Promise<{ reason: string; hasStood: boolean }> {
    const { source, filter, onItems, onGone } = this.#deps;
    const { signal } = this.#stopping;
    let hasStood = false;
    try {
      for await (const items of source.follow({ from, filter }, { signal })) {
        if (signal.aborted) break;
        hasStood = true;
        onItems(items.filter((item) => item.type !== 'record' || this.#isNew(item)));
      }
      return { reason: 'the stream ended', hasStood };
    } catch (error) {
      // Asked again the same, it would be refused for ever: a record that is gone, or one without a time.
      if (!signal.aborted && this.#last !== undefined && isRefused(error)) {
        this.#sinceMs = this.#last.atMs ?? this.#sinceMs;
        this.#last = undefined;
        onGone();
      }
      return { reason: error instanceof Error ? error.message : String(error), hasStood };
    }
  }

  #startAfter(record: ShownRecord): FollowFrom {
    const { sinceMs } = this.#deps;
    if (record.atMs === undefined) return { next: record };
    return { next: record, sinceMs: Math.max(sinceMs ?? -Infinity, record.atMs - OVERLAP_MS) };
  }

  #isNew(record: ShownRecord): boolean {
    const key = recordKey(record);
    if (this.#delivered.has(key) || this.#deliveredBefore.has(key)) return false;
    // Its rest may be forgotten by the node: then it is told once more, whole.
    if (record.unfinished) return true;
    if (record.cursor !== '') this.#last = record;
    this.#delivered.add(key);
    // All at once: a set of which the first is taken out again and again gets slower and slower.
    if (this.#delivered.size >= REMEMBERED) [this.#deliveredBefore, this.#delivered] = [this.#delivered, new Set()];
    return true;
  }
}

/** Whether the request itself was refused, and would be again. Without credentials it is asked again: they may come. */
function isRefused(error: unknown): boolean {
  const { http, retryable } = ERROR_KINDS[codeOf(error)];
  return http >= 400 && http < 500 && !retryable && http !== 401 && http !== 403;
}
