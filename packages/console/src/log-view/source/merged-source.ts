import type { ClusterFollowItem, ClusterState } from '@porthole/client';
import { FOLLOW_OVERLAP_MS } from './cluster-source.ts';
import type {
  Extent,
  FollowFrom,
  HistogramResult,
  LogSource,
  Page,
  PageOptions,
  PageRequest,
  RowFilter,
  ShownRecord,
} from './log-source.ts';
import { mergeHistograms } from './merge-histograms.ts';
import { failedReports, mergePages, type PageStart, parsePositions } from './merge-pages.ts';
import { mergeStreams } from './merge-streams.ts';
import { anchorStartMs, isOnAnchorSide, type PageAnchor, resolveRecord } from './resolve-record.ts';
import { fractionOfTime, timeExtent, timeOfFraction } from './time-extent.ts';

export interface MergedSourceDeps {
  /** Those whose records come from here, as far as known before asking. */
  nodes: readonly string[];
  /** The logs, no record in two of them. Called until it succeeds. */
  open(options: { signal?: AbortSignal }): Promise<readonly LogSource[]>;
  /** For the time of a record that only its name is known of. */
  cluster: ClusterState;
}

/** Several logs that no node merges: merged here, by corrected time, each going on at its own place. */
export class MergedSource implements LogSource {
  readonly nodes: readonly string[];
  readonly #open: MergedSourceDeps['open'];
  readonly #cluster: ClusterState;
  #sources: Promise<readonly LogSource[]> | undefined;
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
      const beside: PageAnchor = { place: 'at' in from ? 'at' : 'next', direction, key };
      const page = await mergePages(
        pageStarts(sources, { timeMs: anchorStartMs(resolved, direction) }),
        request,
        options,
      );
      const records = page.records.filter((record) => isOnAnchorSide(record, resolved, beside));
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
    const sources = await this.#opened(options);
    const results = await Promise.allSettled(sources.map((source) => source.histogram(request, options)));
    const counts = results.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const failed = results.flatMap((answer, index) =>
      answer.status === 'rejected' ? [{ source: sources[index] ?? this, reason: answer.reason as unknown }] : [],
    );
    if (counts.length === 0 && failed[0]) throw failed[0].reason;
    const merged = mergeHistograms(counts);
    const reports = failed.flatMap(({ source, reason }) => failedReports(source, reason));
    return { ...merged, members: [...merged.members, ...reports] };
  }

  async extent(options: { signal?: AbortSignal } = {}): Promise<Extent> {
    const sources = await this.#opened(options);
    const results = await Promise.allSettled(sources.map((source) => source.extent(options)));
    options.signal?.throwIfAborted();
    const extents = results.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    // Without any time in it an extent is 0 to 0, which is no time of a log.
    const known = extents.filter(({ lastMs }) => lastMs !== null && lastMs > 0);
    this.#extent = timeExtent(known.flatMap(({ firstMs, lastMs }) => [firstMs, lastMs]));
    return this.#extent;
  }

  fractionAt(record: ShownRecord, extent: Extent): number | undefined {
    return fractionOfTime(record, extent);
  }

  /** Asked once for all who want them; whoever gives up does not give up for the others. */
  async #opened({ signal }: { signal?: AbortSignal }): Promise<readonly LogSource[]> {
    this.#sources ??= this.#open({}).catch((error) => {
      this.#sources = undefined;
      throw error;
    });
    const sources = await this.#sources;
    signal?.throwIfAborted();
    return sources;
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
