import type { ClusterFollowItem, ClusterState, MemberReport } from '@porthole/client';
import { mergeBuckets } from '@porthole/contract';
import { KEPT, Shared } from '@porthole/logs/shared';
import { FOLLOW_OVERLAP_MS } from './cluster-source.ts';
import {
  type Extent,
  type FieldsResult,
  type FollowFrom,
  fractionOfTime,
  type HistogramResult,
  type LogSource,
  type Page,
  type PageOptions,
  type PageRequest,
  type RowFilter,
  type ShownRecord,
  type TopResult,
  timeExtent,
  timeOfFraction,
} from './log-source.ts';
import { mergeFieldLists, mergeTops, sharedRange } from './merge-counts.ts';
import { failedReports, mergePages, type PageStart, parsePositions } from './merge-pages.ts';
import { anchorStartMs, isOnAnchorSide, type PageAnchor, resolveRecord } from './resolve-record.ts';

/** Values requested of each log. */
const MERGED_VALUES = 1000;

interface MergedSourceDeps {
  /** Nodes whose records come from here, as far as known before the first request. */
  nodes: readonly string[];
  /** The logs, without overlaps. Called until it succeeds. */
  open(options: { signal?: AbortSignal }): Promise<readonly LogSource[]>;
  /** To look up the time of a record known only by its key. */
  cluster: ClusterState;
}

/** Logs that no node can merge: merged here by corrected time, each with its own position. */
export class MergedSource implements LogSource {
  readonly nodes: readonly string[];
  readonly #open: MergedSourceDeps['open'];
  readonly #cluster: ClusterState;
  readonly #sources = new Shared<readonly LogSource[]>({ ...KEPT, endsUnwatched: true });
  #extent: Extent | undefined;

  constructor({ nodes, open, cluster }: MergedSourceDeps) {
    this.nodes = nodes;
    this.#open = open;
    this.#cluster = cluster;
  }

  async page(request: PageRequest, options: PageOptions = {}): Promise<Page> {
    const { direction, from } = request;
    const sources = await this.#opened(options);
    if (typeof from !== 'string' && 'page' in from) {
      const positions = parsePositions(from.page, sources.length);
      const starts = sources.map((source, index) => ({ source, from: positions[index] ?? null }));
      return mergePages(starts, request, options);
    }
    if (typeof from !== 'string' && ('at' in from || 'next' in from)) {
      const key = 'at' in from ? from.at : from.next;
      const resolved = await resolveRecord(this.#cluster, key, options);
      const anchor: PageAnchor = { side: 'at' in from ? 'at' : 'next', direction, key };
      const page = await mergePages(
        pageStarts(sources, { timeMs: anchorStartMs(resolved, direction) }),
        request,
        options,
      );
      const records = page.records.filter((record) => isOnAnchorSide(record, resolved, anchor));
      return { ...page, records };
    }
    return mergePages(pageStarts(sources, await this.#resolvePosition(from, options)), request, options);
  }

  async *follow(
    { from, filter }: { from: FollowFrom; filter: RowFilter },
    options: { signal: AbortSignal },
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    const start = from !== 'end' && 'next' in from ? { timeMs: await this.#followTime(from, options) } : from;
    const sources = await this.#opened(options);
    yield* mergeStreams(
      (signal) => sources.map((source) => source.follow({ from: start, filter }, { signal })),
      options,
    );
  }

  async histogram(
    request: { filter: RowFilter; buckets: number },
    options: PageOptions = {},
  ): Promise<HistogramResult> {
    const { counts, members } = await this.#countAll((source) => source.histogram(request, options), options);
    return { ...mergeHistograms(counts), members };
  }

  async fields(request: { filter: RowFilter; limit: number }, options: PageOptions = {}): Promise<FieldsResult> {
    const { counts, members } = await this.#countAll((source) => source.fields(request, options), options);
    return { ...mergeFieldLists(counts, request.limit), members };
  }

  async top(request: { filter: RowFilter; by: string; limit: number }, options: PageOptions = {}): Promise<TopResult> {
    // One that is rare in every log may be among the most frequent overall.
    const wider = { ...request, limit: Math.max(MERGED_VALUES, request.limit) };
    const { counts, members } = await this.#countAll((source) => source.top(wider, options), options);
    return { ...mergeTops(counts, request.limit), members };
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

  async extent(options: { signal?: AbortSignal } = {}): Promise<Extent> {
    const sources = await this.#opened(options);
    const results = await Promise.allSettled(sources.map((source) => source.extent(options)));
    options.signal?.throwIfAborted();
    const extents = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    // An extent without timestamps is 0 to 0, which is not a time of the log.
    const known = extents.filter(({ lastMs }) => lastMs !== null && lastMs > 0);
    this.#extent = timeExtent(known.flatMap(({ firstMs, lastMs }) => [firstMs, lastMs]));
    return this.#extent;
  }

  fractionAt(record: ShownRecord, extent: Extent): number | undefined {
    return fractionOfTime(record, extent);
  }

  /** One request shared by all callers; a caller that aborts does not abort it for the others. */
  #opened(options: { signal?: AbortSignal }): Promise<readonly LogSource[]> {
    return this.#sources.run((signal) => this.#open({ signal }), options);
  }

  async #resolvePosition(from: PageRequest['from'], options: PageOptions): Promise<PageRequest['from']> {
    if (typeof from === 'string' || !('fraction' in from)) return from;
    if (from.fraction <= 0) return 'start';
    if (from.fraction >= 1) return 'end';
    return { timeMs: timeOfFraction(from.fraction, this.#extent ?? (await this.extent(options))) };
  }

  async #followTime(from: Extract<FollowFrom, { next: unknown }>, options: { signal: AbortSignal }): Promise<number> {
    const { atMs } = await resolveRecord(this.#cluster, from.next, options);
    return Math.min(atMs, Math.max(atMs - FOLLOW_OVERLAP_MS, from.sinceMs ?? atMs));
  }
}

function pageStarts(sources: readonly LogSource[], from: PageStart['from']): PageStart[] {
  return sources.map((source) => ({ source, from }));
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
