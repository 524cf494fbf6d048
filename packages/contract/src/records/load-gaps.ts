import { familySource, fileSource } from '@porthole/logs/query';
import type { FollowItem, FollowQuery, FoundRecord, SearchItem, SearchQuery, StartPoint } from '@porthole/logs/types';
import type { ClusterFollowItem, ClusterItem, ClusterRecord } from '../cluster-state.ts';
import { codeOf, ERROR_KINDS, errorMessage } from '../errors/errors.ts';
import type { CallOptions } from '../node-state.ts';

type AnyFollowItem = FollowItem | ClusterFollowItem;
type Gap = Extract<AnyFollowItem, { type: 'gap' }>;

/** Records per search. For nodes that allow fewer (`search.max-records`), the smallest useful number. */
const PAGE_RECORDS = 1000;
const FEW_RECORDS = 100;

/** Problems of a search that loads a gap: not all of it could be read. */
const LOSSES: ReadonlySet<string> = new Set([
  'CURSOR_GONE',
  'LOG_FILE_CORRUPT',
  'LOG_FILE_TRUNCATED',
  'LOG_FILE_UNREADABLE',
]);

/** Maximum number of searches of one gap that find a file truncated while it is read. */
const MAX_TRUNCATIONS = 5;

/** Waits between attempts to load a gap from an unreachable node. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;

export interface GapLoading extends CallOptions {
  /** Searches the log that has the gap: of the node itself, or of the member that the gap names. */
  search(gap: Gap, query: SearchQuery): AsyncIterable<(SearchItem | ClusterItem)[]>;
  /** Called with the newest loaded records of a log: a follow that reconnects must not get them again. */
  onLoaded?(records: readonly (FoundRecord | ClusterRecord)[]): void;
  /** Rejects with the signal's reason as soon as it fires. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Replaces gaps of a follow by the records that a slow reader missed, loaded by a search. A gap that cannot be loaded,
 * or only in part, is passed on and the follow continues. Nothing is read from the follow meanwhile: what is missed by
 * that is the next gap.
 */
export async function* loadGaps<T extends AnyFollowItem>(
  batches: AsyncIterable<T[]>,
  request: FollowQuery,
  loading: GapLoading,
): AsyncGenerator<T[], void, undefined> {
  const clocks = new ClockOffsets();
  for await (const items of batches) {
    let start = 0;
    for (const [index, item] of items.entries()) {
      if (item.type === 'record') clocks.note(item);
      if (item.type !== 'gap' || !isLoadable(item)) continue;
      if (index > start) yield items.slice(start, index);
      start = index + 1;
      const { onLoaded, ...rest } = loading;
      // If records of the same batch come after it, the follow is already further.
      const isLast = !items.slice(index + 1).some(({ type }) => type === 'record' || type === 'text');
      const gapLoading = { ...rest, clocks, ...(isLast && onLoaded && { onLoaded }) };
      // Items of the same kind as the gap: of one node, or of a member.
      for await (const loaded of new GapLoad(item, request, gapLoading).run()) yield loaded as T[];
    }
    const rest = start === 0 ? items : items.slice(start);
    if (rest.length > 0 || items.length === 0) yield rest;
  }
}

/** Only what a slow reader missed is still there; a file that was truncated or removed has nothing left to load. */
function isLoadable({ reason, until }: Gap): boolean {
  return reason === 'slow' && until !== null;
}

/** The clock offset of each member from the responding node, learned from its records. */
class ClockOffsets {
  readonly #offsetsMs = new Map<string, number>();

  note(record: FoundRecord | ClusterRecord): void {
    if (!('node' in record) || record.timeMs === undefined || record.atMs === undefined) return;
    this.#offsetsMs.set(record.node, record.timeMs - record.atMs);
  }

  /** As a record of the cluster if the gap is one. */
  apply(record: FoundRecord, gap: Gap): FoundRecord | ClusterRecord {
    if (!('node' in gap)) return record;
    const { timeMs } = record;
    const offsetMs = this.#offsetsMs.get(gap.node) ?? 0;
    return { ...record, node: gap.node, ...(timeMs !== undefined && { atMs: timeMs - offsetMs }) };
  }
}

class GapLoad {
  readonly #gap: Gap;
  readonly #request: FollowQuery;
  readonly #loading: GapLoading & { clocks: ClockOffsets };
  #src: readonly string[];
  #start: StartPoint | undefined;
  #limit = PAGE_RECORDS;
  #isReported = false;
  #truncations = 0;
  /** Time of the newest record loaded. */
  #lastMs: number | undefined;
  #failures = 0;

  constructor(gap: Gap, request: FollowQuery, loading: GapLoading & { clocks: ClockOffsets }) {
    this.#gap = gap;
    this.#request = request;
    this.#loading = loading;
    this.#src = [familySource(gap.family)];
    if (gap.after !== null) this.#start = { cursor: gap.after };
  }

  async *run(): AsyncGenerator<AnyFollowItem[], void, undefined> {
    const { signal } = this.#loading;
    // After the signal the follow itself emits its end.
    for (let step: 'find' | 'load' | 'done' = 'find'; step !== 'done' && !signal?.aborted; ) {
      try {
        if (step === 'find') {
          if (!(await this.#isFound())) yield this.#report();
          step = 'load';
        }
        if (yield* this.#page()) step = 'done';
      } catch (error) {
        if (signal?.aborted) return;
        const next = this.#adapt(error);
        if (next === 'give up' || next === 'skip') yield this.#report();
        if (next === 'give up') return;
        if (next === 'wait') yield* this.#pause(error);
      }
    }
  }

  /**
   * Whether the record before the gap still exists. If not, the files within the gap may still exist: a search then
   * continues by time, after reporting that records may be missing.
   */
  async #isFound(): Promise<boolean> {
    const { after } = this.#gap;
    if (after === null) return true;
    try {
      const query = { ...this.#query(), limit: 1, start: { record: after } };
      for await (const _ of this.#loading.search(this.#gap, query));
      return true;
    } catch (error) {
      if (codeOf(error) === 'CURSOR_GONE') return false;
      throw error;
    }
  }

  /** Loads one page; `true` if it was the last. */
  async *#page(): AsyncGenerator<AnyFollowItem[], boolean, undefined> {
    const { search, clocks, onLoaded } = this.#loading;
    const gap = this.#gap;
    for await (const items of search(gap, this.#query())) {
      const records = items.filter((item) => item.type === 'record');
      const last = records.at(-1);
      if (last) {
        this.#failures = 0;
        this.#start = { cursor: last.cursor };
        this.#lastMs = last.timeMs ?? this.#lastMs;
        const loaded = records.map((record) => clocks.apply(record, gap));
        yield loaded;
        onLoaded?.(loaded);
      }
      const end = items.at(-1);
      if (end?.type !== 'end') continue;
      const problems = end.problems ?? [];
      const isTruncated = problems.some(({ code }) => code === 'LOG_FILE_TRUNCATED');
      // Truncated while it was read: its content is in a copy, which the next search finds.
      if (isTruncated && ++this.#truncations <= MAX_TRUNCATIONS) return false;
      if (problems.some(({ code }) => LOSSES.has(code))) yield this.#report();
      if (end.reason === 'exhausted' || end.cursor === null) return true;
      this.#start = { cursor: end.cursor };
    }
    return false;
  }

  #query(): SearchQuery {
    const { start: _start, src: _src, ...wanted } = this.#request;
    const { until } = this.#gap;
    return {
      ...wanted,
      src: this.#src,
      order: 'oldest',
      limit: this.#limit,
      before: 0,
      after: 0,
      ...(this.#start && { start: this.#start }),
      ...(until !== null && { until }),
    };
  }

  #adapt(error: unknown): 'try another way' | 'skip' | 'wait' | 'give up' {
    const code = codeOf(error);
    const file = fileSource(this.#gap.family);
    if (code === 'LOG_FAMILY_NOT_FOUND' && this.#src[0] !== file) {
      // A rotated file that is followed by its own name is not a family of that name.
      this.#src = [file];
      return 'try another way';
    }
    if (code === 'PARAMETER_INVALID' && this.#limit === PAGE_RECORDS) {
      this.#limit = FEW_RECORDS;
      return 'try another way';
    }
    if (code === 'CURSOR_GONE' && this.#lastMs !== undefined) {
      // The file that was being loaded was removed; nothing of the next ones has been loaded yet.
      this.#start = { timeMs: this.#lastMs };
      this.#lastMs = undefined;
      return 'skip';
    }
    return ERROR_KINDS[code].retryable ? 'wait' : 'give up';
  }

  async *#pause(error: unknown): AsyncGenerator<AnyFollowItem[], void, undefined> {
    const { wait, signal } = this.#loading;
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures++);
    const reason = errorMessage(error);
    if (!('node' in this.#gap)) yield [{ type: 'reconnecting', reason, waitMs }];
    await wait(waitMs, signal).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
  }

  /** Reports the gap once: how much of it is missing is unknown. */
  #report(): AnyFollowItem[] {
    if (this.#isReported) return [];
    this.#isReported = true;
    return [{ ...this.#gap, reason: 'gone' }];
  }
}
