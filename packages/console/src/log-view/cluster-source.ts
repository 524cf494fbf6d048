import type {
  ClusterFollowItem,
  ClusterState,
  LogSelection,
  MemberSelection,
  SearchQuery,
  StartPoint,
} from '@porthole/client';
import { inOrder } from './in-order.ts';
import type {
  Extent,
  FollowFrom,
  HistogramAnswer,
  LogSource,
  Page,
  PageOptions,
  PageRequest,
  RowFilter,
  ShownRecord,
} from './log-source.ts';
import { readSearch } from './read-search.ts';
import { type Beside, isBeside, type ResolvedRecord, resolveRecord, timeBeside } from './resolve-record.ts';
import { fractionOfTime, timeExtent, timeOfFraction } from './time-extent.ts';

/** As much as nodes themselves go back when they go on by time: a slower member may write what is older a little later. */
export const FOLLOW_OVERLAP_MS = 5000;

export interface ClusterSourceParts {
  cluster: ClusterState;
  members: MemberSelection;
  log: { kind: 'family' | 'file'; name: string } | null;
}

interface Beginning {
  start?: StartPoint;
  /** The record at which it begins; those on its other side that come along are left out. */
  beside?: Beside & { resolved: ResolvedRecord };
}

/** One log, or all, of several nodes, merged by the node that is asked. Places in it are times. */
export class ClusterSource implements LogSource {
  readonly nodes: readonly string[];
  readonly #parts: ClusterSourceParts;
  #extent: Extent | undefined;

  constructor(parts: ClusterSourceParts) {
    this.#parts = parts;
    this.nodes = (parts.members.nodes ?? []).filter((id) => !/[*?]/.test(id));
  }

  async page(request: PageRequest, options: PageOptions = {}): Promise<Page> {
    const { direction, limit, filter } = request;
    const beginning = await this.#beginningOf(request, options);
    if (beginning === undefined) return NOTHING;
    const query: SearchQuery & MemberSelection = {
      ...this.#selection,
      ...filter,
      order: direction === 'older' ? 'newest' : 'oldest',
      limit,
      before: 0,
      after: 0,
      raw: true,
      ...(beginning.start && { start: beginning.start }),
    };
    const { records, end } = await readSearch(this.#parts.cluster.searchLogs(query, options));
    const { beside } = beginning;
    const own = beside ? records.filter((record) => isBeside(record, beside.resolved, beside)) : records;
    const shown = inOrder(own, direction);
    return {
      records: direction === 'older' ? shown.reverse() : shown,
      next: end.cursor,
      isOutOfTime: end.reason === 'time budget',
      scannedBytes: end.scannedBytes,
      reachedMs: (direction === 'older' ? end.coveredFromMs : end.coveredToMs) ?? null,
      problems: end.problems ?? [],
      duplicates: end.duplicates ?? [],
      members: end.members,
    };
  }

  async *follow(
    { from, filter }: { from: FollowFrom; filter: RowFilter },
    options: { signal: AbortSignal },
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    const start = from === 'end' ? from : { timeMs: await this.#followTime(from, options) };
    const query = { ...this.#selection, ...filter, start, raw: true };
    yield* this.#parts.cluster.followLogs(query, { ...options, gaps: 'report' });
  }

  async histogram(
    { filter, buckets }: { filter: RowFilter; buckets: number },
    options: PageOptions = {},
  ): Promise<HistogramAnswer> {
    const query = { ...this.#selection, ...filter, buckets };
    const { bucketMs, buckets: counts, counted, members } = await this.#parts.cluster.logHistogram(query, options);
    return { bucketMs, buckets: counts, counted, members };
  }

  async extent(options: { signal?: AbortSignal } = {}): Promise<Extent> {
    const { log, members } = this.#parts;
    const { files } = await this.#parts.cluster.logFiles(members, options);
    const own = files.filter((file) => log === null || (log.kind === 'family' ? file.family : file.name) === log.name);
    this.#extent = timeExtent(own.flatMap(({ firstTimeMs, lastTimeMs }) => [firstTimeMs, lastTimeMs]));
    return this.#extent;
  }

  fractionOf(record: ShownRecord, extent: Extent): number | undefined {
    return fractionOfTime(record, extent);
  }

  get #selection(): LogSelection & MemberSelection {
    const { log, members } = this.#parts;
    if (log === null) return members;
    return log.kind === 'family' ? { family: log.name, ...members } : { file: log.name, ...members };
  }

  async #beginningOf({ direction, from }: PageRequest, options: PageOptions): Promise<Beginning | undefined> {
    if (from === 'start') return direction === 'newer' ? {} : undefined;
    if (from === 'end') return direction === 'older' ? {} : undefined;
    if ('page' in from) return { start: { cursor: from.page } };
    if ('timeMs' in from) return { start: { timeMs: from.timeMs } };
    if ('fraction' in from) {
      if (from.fraction <= 0) return direction === 'newer' ? {} : undefined;
      if (from.fraction >= 1) return direction === 'older' ? {} : undefined;
      return { start: { timeMs: timeOfFraction(from.fraction, this.#extent ?? (await this.extent(options))) } };
    }
    const key = 'at' in from ? from.at : from.next;
    const resolved = await resolveRecord(this.#parts.cluster, key, options);
    const beside: Beside = { place: 'at' in from ? 'at' : 'next', direction, key };
    return { start: { timeMs: timeBeside(resolved, direction) }, beside: { ...beside, resolved } };
  }

  async #followTime(from: Exclude<FollowFrom, 'end'>, options: { signal: AbortSignal }): Promise<number> {
    if ('timeMs' in from) return from.timeMs;
    const { atMs } = await resolveRecord(this.#parts.cluster, from.next, options);
    return Math.min(atMs, Math.max(atMs - FOLLOW_OVERLAP_MS, from.sinceMs ?? atMs));
  }
}

const NOTHING: Page = {
  records: [],
  next: null,
  isOutOfTime: false,
  scannedBytes: 0,
  reachedMs: null,
  problems: [],
  duplicates: [],
  members: [],
};
