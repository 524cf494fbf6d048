import { type ClusterFollowItem, codeOf, ERROR_KINDS } from '@porthole/client';
import { errorMessage } from '@porthole/contract';
import { type FollowFrom, type LogSource, type RowFilter, recordKey, type ShownRecord } from '../source/log-source.ts';
import { FIRST_WAIT_MS, LONGEST_WAIT_MS, type WorkspaceClock } from './workspace-deps.ts';

/** Resuming by time goes back this far: a slow node may write older records a little later. */
const OVERLAP_MS = 5000;

/** At least this many delivered records are remembered: about that time span at some thousand records per second. */
const REMEMBERED = 10_000;

interface FollowRunDeps {
  source: LogSource;
  filter: RowFilter;
  clock: WorkspaceClock;
  /** The newest known record; `undefined`: start at the end. */
  newest: ShownRecord | undefined;
  /** Older records are ignored, however late they arrive. */
  sinceMs: number | undefined;
  /** Keys of known records. */
  known: Iterable<string>;
  /** New items. Also called without items, when the connection is established. */
  onItems(items: readonly ClusterFollowItem[]): void;
  onLost(reason: string): void;
  /** The stream could not resume at the last record: records may be missing. */
  onGone(): void;
}

/** Follows a source until stopped: reconnects after the last record whenever the stream ends. */
export class FollowRun {
  readonly #deps: FollowRunDeps;
  readonly #stopping = new AbortController();
  /** Keys of the newest delivered records, and of the generation before them. */
  #delivered: Set<string>;
  #deliveredBefore = new Set<string>();
  /** Where to resume without a record: by the time of the last record if it has one, otherwise by our clock. */
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
      // The same request would fail for ever: the record is gone, or has no timestamp.
      if (!signal.aborted && this.#last !== undefined && isRefused(error)) {
        this.#sinceMs = this.#last.atMs ?? this.#sinceMs;
        this.#last = undefined;
        onGone();
      }
      return { reason: errorMessage(error), hasStood };
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
    // Its node may no longer have the partial line: it is then sent again, complete.
    if (record.unfinished) return true;
    if (record.cursor !== '') this.#last = record;
    this.#delivered.add(key);
    // Replaced as a whole: deleting the oldest entries of a set one by one gets slower and slower.
    if (this.#delivered.size >= REMEMBERED) [this.#deliveredBefore, this.#delivered] = [this.#delivered, new Set()];
    return true;
  }
}

/** Whether the request itself is invalid and would fail again. Not so without credentials: they may come. */
function isRefused(error: unknown): boolean {
  const { http, retryable } = ERROR_KINDS[codeOf(error)];
  return http >= 400 && http < 500 && !retryable && http !== 401 && http !== 403;
}
