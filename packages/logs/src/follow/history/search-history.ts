import { setTimeout as delay } from 'node:timers/promises';
import { decodeCursor, encodeMark, resumeCursor, START_CURSOR } from '../../cursor/cursor.ts';
import { LogError } from '../../log-error.ts';
import { awaitedLater } from '../../shared.ts';
import type { FoundRecord, ReadOptions, RecordFilter, SearchItem, SearchQuery, StartPoint } from '../../types.ts';
import { targetSource } from '../tail/family-files.ts';
import type { TailReader } from '../tail/tail-reader.ts';

/** Records of one search; then another one continues. Only so that every search is bounded. */
const HISTORY_LIMIT = 100_000;

/** Searches of one history that may find a file truncated while reading it; with more, something is wrong with the file. */
const MAX_TRUNCATIONS = 5;

/** Backoff while the node runs too many searches. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1000;

const MISSING: ReadonlySet<string> = new Set(['LOG_FAMILY_NOT_FOUND', 'LOG_FILE_NOT_FOUND']);

export type Search = (
  query: SearchQuery,
  options: ReadOptions & { onlyRaw?: boolean | undefined },
) => AsyncGenerator<SearchItem[]>;

export interface HistoryDeps {
  search: Search;
  filter: RecordFilter;
  raw: boolean;
  fields?: readonly string[] | undefined;
  /** Whether nothing but position, time and text of the records is used. */
  onlyRaw?: boolean | undefined;
  signal: AbortSignal;
  /** For reading the histories of several logs in parallel. */
  permits: Permits;
}

/** Records in order; `isGone` if what should come before them was deleted. */
interface HistoryPart {
  records: FoundRecord[];
  isGone: boolean;
}

/** Repeats the search from where it stopped until the range is exhausted. */
export async function* searchAll(
  reader: TailReader,
  { from, until, toMs }: { from: StartPoint | undefined; until?: string | undefined; toMs?: number | undefined },
  deps: HistoryDeps,
): AsyncGenerator<HistoryPart, void, undefined> {
  let start = from;
  let last: string | undefined;
  let timeMs = from && 'cursor' in from ? timeOf(from.cursor) : undefined;
  let truncations = 0;
  for (let done = false; !done && !deps.signal.aborted; ) {
    done = true;
    const end = { ...(until !== undefined && { until }), ...(toMs !== undefined && { toMs }) };
    const exact = toExactStart(start);
    const range = { ...(exact && { start: exact }), ...end };
    const query = queryFor(reader, deps, { order: 'oldest', limit: HISTORY_LIMIT, ...range });
    for await (const items of searchExisting(query, deps)) {
      const records = items.flatMap((item) => {
        if (item.type !== 'record') return [];
        timeMs = item.timeMs ?? timeMs;
        // A continued record does not show its time, and whoever resumes after it needs one.
        return item.continued ? { ...item, cursor: resumeCursor({ ...item, timeMs }) } : item;
      });
      const end = items.find((item) => item.type === 'end');
      const newest = records.at(-1);
      if (newest) last = resumeCursor(newest);
      const hasProblem = (wanted: string) => end?.problems.some(({ code }) => code === wanted) ?? false;
      // A file was truncated while it was read: its content is in a copy, which the next search finds.
      const isTruncated = hasProblem('LOG_FILE_TRUNCATED') && ++truncations <= MAX_TRUNCATIONS;
      const isPartGone = hasProblem('CURSOR_GONE') || (hasProblem('LOG_FILE_TRUNCATED') && !isTruncated);
      if (records.length > 0 || isPartGone) yield { records, isGone: isPartGone };
      if (isTruncated) {
        if (last !== undefined) start = { cursor: last };
        done = false;
        continue;
      }
      if (!end?.cursor || end.reason === 'exhausted' || end.reason === 'cancelled') continue;
      start = { cursor: end.cursor };
      done = false;
    }
  }
}

/** The time to continue at if the record of a cursor was deleted. */
export function timeOf(cursor: string): number | undefined {
  if (cursor === START_CURSOR) return undefined;
  return decodeCursor(cursor).findLast(({ delivered }) => delivered?.timeMs !== undefined)?.delivered?.timeMs;
}

/**
 * The start without the time of its record. With it, a search that does not find the record would continue by time and
 * report the loss only at its end.
 */
function toExactStart(start: StartPoint | undefined): StartPoint | undefined {
  if (!start || !('cursor' in start) || start.cursor === START_CURSOR) return start;
  const marks = decodeCursor(start.cursor).map(({ delivered, ...mark }) =>
    encodeMark({ ...mark, ...(delivered && { delivered: { bytes: delivered.bytes, timeMs: undefined } }) }),
  );
  return { ...start, cursor: marks.join('~') };
}

/**
 * A log without any file at present has no history. A search is retried that was refused because the node is busy, or
 * during which a file was truncated before its start was found.
 */
export async function* searchExisting(query: SearchQuery, deps: HistoryDeps): AsyncGenerator<SearchItem[]> {
  const { search, signal, onlyRaw } = deps;
  let truncations = 0;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      return yield* search(query, { signal, onlyRaw });
    } catch (error) {
      const mayRetry = isBusy(error) || (isTruncated(error) && ++truncations <= MAX_TRUNCATIONS);
      if (!mayRetry || signal.aborted) {
        if (!isMissing(error)) throw error;
        if (!query.start || 'timeMs' in query.start) return;
        throw new LogError('CURSOR_GONE', 'the files that the cursor points into no longer exist', { cause: error });
      }
    }
    await delay(waitMs, undefined, { signal });
  }
}

/** The node runs as many searches as it may; thrown before anything was emitted. */
function isBusy(thrown: unknown): boolean {
  return thrown instanceof LogError && thrown.code === 'TOO_MANY_SEARCHES';
}

/** Thrown before anything was emitted; later it is one of the problems. */
function isTruncated(thrown: unknown): boolean {
  return thrown instanceof LogError && thrown.code === 'LOG_FILE_TRUNCATED';
}

export function queryFor(
  { tail }: TailReader,
  { filter, raw, fields }: HistoryDeps,
  range: Pick<SearchQuery, 'order' | 'limit' | 'start' | 'until' | 'toMs'>,
): SearchQuery {
  const src = [targetSource(tail.target)];
  return { src, ...filter, ...range, before: 0, after: 0, ...(raw && { raw }), ...(fields && { fields }) };
}

/** Whether no file of the log exists at present. */
function isMissing(thrown: unknown): boolean {
  return thrown instanceof LogError && MISSING.has(thrown.code);
}

/** A counting semaphore without a queue. */
export class Permits {
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  tryTake(): boolean {
    if (this.#free <= 0) return false;
    this.#free--;
    return true;
  }

  release(): void {
    this.#free++;
  }
}

interface Running<T> {
  stream: AsyncGenerator<T, void, undefined>;
  // kept: belongs to one merge; it has a handler from birth
  next: Promise<{ running: Running<T>; result: IteratorResult<T, void> }>;
  hasPermit: boolean;
}

/**
 * Merges streams in the order in which their items arrive, keeping the order within each. One stream always runs, more
 * of them as long as there are permits.
 */
export async function* mergeStreams<T>(
  starts: readonly (() => AsyncGenerator<T, void, undefined>)[],
  permits: Permits,
): AsyncGenerator<T, void, undefined> {
  const waiting = starts.values();
  const running = new Set<Running<T>>();
  const advance = (each: Running<T>) => {
    each.next = awaitedLater(each.stream.next().then((result) => ({ running: each, result })));
  };
  const startMore = () => {
    for (;;) {
      const hasPermit = running.size > 0 && permits.tryTake();
      if (running.size > 0 && !hasPermit) return;
      const { value: start } = waiting.next();
      if (start) {
        const each = { stream: start(), hasPermit } as Running<T>;
        running.add(each);
        advance(each);
        continue;
      }
      if (hasPermit) permits.release();
      return;
    }
  };
  const finish = (each: Running<T>) => {
    running.delete(each);
    if (each.hasPermit) permits.release();
  };
  try {
    for (startMore(); running.size > 0; startMore()) {
      const { running: each, result } = await Promise.race(Array.from(running, ({ next }) => next));
      if (result.done) {
        finish(each);
        continue;
      }
      yield result.value;
      // To the end of the queue, so that a stream that always has items does not starve the others.
      running.delete(each);
      running.add(each);
      advance(each);
    }
  } finally {
    const left = [...running];
    left.forEach(finish);
    await Promise.allSettled(left.map(({ stream }) => stream.return()));
  }
}
