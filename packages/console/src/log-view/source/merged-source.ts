import { type Client, codeOf, type MemberReport, PortholeError } from '@porthole/client';
import { addBuckets, errorMessage, mergeBuckets, mergeFields, mergeTop, sharedRange } from '@porthole/contract';
import { KEPT, Shared } from '@porthole/logs/shared';
import { type MergedRun, MergeLane, TimeMerge } from '@porthole/records';
import type {
  Direction,
  HistogramResult,
  LogSource,
  Page,
  PageOptions,
  PagePosition,
  PageRequest,
  RowFilter,
  ShownRecord,
  TopResult,
} from './log-source.ts';
import { type FollowStart, type TimePosition, TimeSource } from './time-source.ts';

const MERGED_VALUES = 1000;

interface MergedSourceDeps {
  /** Nodes whose records come from here, as far as known before the first request. */
  nodes: readonly string[];
  /** The logs, without overlaps. Called until it succeeds. */
  open(options: { signal?: AbortSignal }): Promise<readonly LogSource[]>;
  client: Client;
}

/** Logs that no node can merge: merged here by corrected time, each with its own position. */
export class MergedSource extends TimeSource implements LogSource {
  readonly nodes: readonly string[];
  readonly #open: MergedSourceDeps['open'];
  readonly #sources = new Shared<readonly LogSource[]>({ ...KEPT, endsUnwatched: true });

  constructor({ nodes, open, client }: MergedSourceDeps) {
    super(client);
    this.nodes = nodes;
    this.#open = open;
  }

  histogram: LogSource['histogram'] = async (request, options = {}) => {
    const { counts, members } = await this.#countAll((source) => source.histogram(request, options), options);
    return { ...mergeHistograms(counts), members };
  };

  fields: LogSource['fields'] = async (request, options = {}) => {
    const { counts, members } = await this.#countAll((source) => source.fields(request, options), options);
    const counted = sharedRange(counts.map((one) => one.counted));
    const lists = counts.map((fields, index) => ({ id: String(index), fields }));
    return { ...mergeFields(lists, { limit: request.limit }), counted, members };
  };

  top: LogSource['top'] = async (request, options = {}) => {
    // One that is rare in every log may be among the most frequent overall.
    const wider = { ...request, limit: Math.max(MERGED_VALUES, request.limit) };
    const { counts, members } = await this.#countAll((source) => source.top(wider, options), options);
    return { ...mergeTops(counts, request.limit), members };
  };

  protected async pageFrom(from: TimePosition, request: PageRequest, options: PageOptions): Promise<Page> {
    const sources = await this.#opened(options);
    const positions =
      typeof from === 'object' && 'page' in from ? parsePositions(from.page, sources.length) : sources.map(() => from);
    const starts = sources.map((source, index) => ({ source, from: positions[index] ?? null }));
    return mergePages(starts, request, options);
  }

  protected async *followFrom(from: FollowStart, filter: RowFilter, options: { signal: AbortSignal }) {
    const sources = await this.#opened(options);
    yield* mergeStreams((signal) => sources.map((source) => source.follow({ from, filter }, { signal })), options);
  }

  protected async times(options: { signal?: AbortSignal }): Promise<(number | null)[]> {
    const sources = await this.#opened(options);
    const results = await Promise.allSettled(sources.map((source) => source.extent(options)));
    options.signal?.throwIfAborted();
    const extents = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    // An extent without timestamps is 0 to 0, which is not a time of the log.
    const known = extents.filter(({ lastMs }) => lastMs !== null && lastMs > 0);
    return known.flatMap(({ firstMs, lastMs }) => [firstMs, lastMs]);
  }

  /** The counts of all logs. Those that fail are reported; fails if all do. */
  async #countAll<Count extends { members: MemberReport[] }>(
    count: (source: LogSource) => Promise<Count>,
    options: PageOptions,
  ): Promise<{ counts: Count[]; members: MemberReport[] }> {
    const sources = await this.#opened(options);
    const results = await Promise.allSettled(sources.map(count));
    const counts = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failed = results.flatMap((result, index) =>
      result.status === 'rejected' ? [{ source: sources[index] ?? this, reason: result.reason as unknown }] : [],
    );
    if (counts.length === 0 && failed[0]) throw failed[0].reason;
    const reports = failed.flatMap(({ source, reason }) => failedReports(source, reason));
    return { counts, members: [...counts.flatMap(({ members }) => members), ...reports] };
  }

  /** One request shared by all callers; a caller that aborts does not abort it for the others. */
  #opened(options: { signal?: AbortSignal }): Promise<readonly LogSource[]> {
    return this.#sources.run((signal) => this.#open({ signal }), options);
  }
}

/** Adds up the counts of several logs, in buckets of the widest. */
function mergeHistograms(results: readonly HistogramResult[]): Omit<HistogramResult, 'members'> {
  const bucketMs = Math.max(1, ...results.map((result) => result.bucketMs));
  const merged = mergeBuckets(
    results.map((histogram) => ({ id: '', offsetAt: () => 0, histogram })),
    { bucketMs },
  );
  return {
    bucketMs,
    buckets: merged.map(({ startMs, counts }) => ({ startMs, counts })),
    // A range that one of them has not counted is unknown.
    counted: sharedRange(results.map(({ counted }) => counted)),
  };
}

/**
 * Batches of several streams as they arrive, after an empty one once all have begun. Ends when all have ended and fails
 * when one fails; the signal they share fires then.
 */
export async function* mergeStreams<T>(
  open: (signal: AbortSignal) => readonly AsyncIterable<T[]>[],
  options: { signal: AbortSignal },
): AsyncGenerator<T[], void, undefined> {
  const leaving = new AbortController();
  const streams = open(AbortSignal.any([leaving.signal, options.signal])).map((stream) =>
    stream[Symbol.asyncIterator](),
  );
  const pull = async (index: number) => ({ index, result: await streams[index]?.next() });
  const pending = new Map(streams.map((_stream, index) => [index, pull(index)]));
  const held: T[] = [];
  const notBegun = new Set(pending.keys());
  try {
    while (pending.size > 0) {
      const { index, result } = await Promise.race(pending.values());
      if (result === undefined || result.done) pending.delete(index);
      else pending.set(index, pull(index));
      const hasBegun = notBegun.size === 0;
      notBegun.delete(index);
      if (result && !result.done) held.push(...result.value);
      // Hold batches until all streams follow: callers rely on missing nothing after the first batch.
      if (notBegun.size > 0) continue;
      if (held.length > 0 || !hasBegun) yield held.splice(0);
    }
  } finally {
    leaving.abort();
    // The streams were just aborted: what they reject with now is of no interest to anyone.
    const ignore = () => {};
    for (const pulled of pending.values()) pulled.catch(ignore);
    for (const stream of streams) stream.return?.().catch(ignore);
  }
}

/** One of the merged sources and its position; `null`: nothing left. */
export interface PageStart {
  source: LogSource;
  from: PagePosition | null;
}

interface PartPage {
  part: PageStart;
  page: Page | undefined;
  error: unknown;
  /** In the requested direction. */
  records: ShownRecord[];
}

/** Requests a page from every source and merges them by time, as far as the order is certain. */
export async function mergePages(
  parts: readonly PageStart[],
  request: PageRequest,
  options: PageOptions,
): Promise<Page> {
  const fetched = await Promise.all(parts.map((part) => fetchPage(part, request, options)));
  options.signal?.throwIfAborted();
  const failed = fetched.filter(({ error }) => error !== undefined);
  if (failed.length > 0 && failed.length === parts.filter(({ from }) => from !== null).length) throw failed[0]?.error;
  const { merged, taken } = mergeRecords(fetched, request);
  const pages = fetched.flatMap(({ page }) => (page ? [page] : []));
  const positions = fetched.map((one, index) => positionAfter(one, taken[index] ?? 0));
  const isLeft = fetched.some(({ page }, index) => page !== undefined && positions[index] !== null);
  return {
    records: request.direction === 'older' ? merged.reverse() : merged,
    next: isLeft ? JSON.stringify(positions) : null,
    scannedBytes: pages.reduce((sum, { scannedBytes }) => sum + scannedBytes, 0),
    reachedMs: reachedMs(fetched, taken, request.direction),
    problems: pages.flatMap(({ problems }) => problems),
    duplicates: pages.flatMap(({ duplicates }) => duplicates),
    members: fetched.flatMap(
      ({ page, part, error }) => page?.members ?? (part.from === null ? [] : failedReports(part.source, error)),
    ),
  };
}

/** Up to where no source lacks records: neither not loaded yet, nor loaded but not taken. */
function reachedMs(pages: readonly PartPage[], taken: readonly number[], direction: Direction): number | null {
  const sign = direction === 'older' ? 1 : -1;
  let reached = -Infinity;
  pages.forEach(({ page, records }, index) => {
    if (page === undefined) return;
    for (const { atMs } of records.slice(taken[index]))
      if (atMs !== undefined) reached = Math.max(reached, sign * atMs + 1);
    if (page.next !== null) reached = Math.max(reached, page.reachedMs === null ? Infinity : sign * page.reachedMs);
  });
  return Number.isFinite(reached) ? sign * reached : null;
}

/** Decodes the positions in a page of `mergePages`. */
export function parsePositions(text: string, count: number): (PagePosition | null)[] {
  try {
    const positions: unknown = JSON.parse(text);
    if (Array.isArray(positions) && positions.length === count) return positions as (PagePosition | null)[];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new PortholeError('CURSOR_INVALID', 'this page position belongs to other logs');
}

async function fetchPage(part: PageStart, request: PageRequest, options: PageOptions): Promise<PartPage> {
  if (part.from === null) return { part, page: undefined, error: undefined, records: [] };
  try {
    const page = await part.source.page({ ...request, from: part.from }, options);
    const records = request.direction === 'older' ? page.records.toReversed() : page.records;
    return { part, page, error: undefined, records };
  } catch (error) {
    return { part, page: undefined, error: error ?? new Error('unknown error'), records: [] };
  }
}

/** Records in the requested direction as far as their order is certain, and how many of each source are among them. */
function mergeRecords(
  pages: readonly PartPage[],
  { direction, limit }: PageRequest,
): { merged: ShownRecord[]; taken: number[] } {
  const order = direction === 'older' ? 'newest' : 'oldest';
  const merge = new TimeMerge<MergedRun<MergedRecords>, MergeLane<MergedRecords>>();
  const lanes = pages.map(({ records, page }, index) => {
    const lane = new MergeLane<MergedRecords>(index, order);
    const isOver = page === undefined || page.next === null;
    const thenMs = isOver ? (order === 'newest' ? -Infinity : Infinity) : (page.reachedMs ?? Number.NaN);
    lane.put({ records, times: records.map(({ atMs = Number.NaN }) => atMs) }, thenMs);
    merge.add(lane);
    return lane;
  });
  const merged = merge.take(limit).flatMap(({ batch, from, to }) => batch.records.slice(from, to));
  return { merged, taken: lanes.map(({ at }) => at) };
}

interface MergedRecords {
  records: readonly ShownRecord[];
  times: readonly number[];
}

function positionAfter({ part, page, error, records }: PartPage, taken: number): PagePosition | null {
  if (error !== undefined) return part.from;
  if (page === undefined) return null;
  if (taken === records.length) return page.next === null ? null : { page: page.next };
  const last = records[taken - 1];
  return last === undefined ? part.from : { next: trimRecord(last) };
}

/** The part of a record that a source needs to continue; the rest would only make the position long. */
function trimRecord({
  raw: _raw,
  context: _context,
  contextText: _contextText,
  before: _before,
  after: _after,
  ...record
}: ShownRecord): ShownRecord {
  return { ...record, message: '' };
}

/** The report for a source that failed as a whole. */
function failedReports(source: LogSource, error: unknown): MemberReport[] {
  const detail = `${codeOf(error)}: ${errorMessage(error)}`;
  return source.nodes.map((id) => ({ id, outcome: 'failed', detail, elapsedMs: 0, count: 0, asOfMs: null }));
}

/* Counts by field of several logs, none of which is part of another, as one. */

/** Counts by value, added up. */
export function mergeTops(tops: readonly TopResult[], limit: number): Omit<TopResult, 'members'> {
  const { bucketMs } = tops[0] ?? {};
  const sources = tops.map((top, index) => ({ id: String(index), top, offsetAt: () => 0 }));
  const merged = mergeTop(sources, { limit, areGiven: false });
  return {
    by: tops[0]?.by ?? '',
    ...merged,
    ...(bucketMs !== undefined && { bucketMs, values: addBuckets(merged.values, sources, { bucketMs }) }),
    counted: sharedRange(tops.map((top) => top.counted)),
  };
}
