import type {
  ClusterClient,
  ClusterEnd,
  ClusterFollowItem,
  LogSelection,
  MemberSelection,
  SearchQuery,
  StartPoint,
} from '@porthole/client';
import type { ShownProblem } from '../model/reports.ts';
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
import {
  anchorStartMs,
  isOnAnchorSide,
  type PageAnchor,
  type ResolvedRecord,
  readSearch,
  resolveRecord,
} from './resolve-record.ts';
import { toRecordFilter } from './shown-record.ts';

/** Resuming by time goes back this far, like the nodes do: a slow member may write older records a little later. */
export const FOLLOW_OVERLAP_MS = 5000;

interface ClusterSourceDeps {
  cluster: ClusterClient;
  members: MemberSelection;
  log: { kind: 'family' | 'file'; name: string } | null;
}

interface SearchStart {
  start?: StartPoint;
  /** The record the page starts at; returned records on its other side are dropped. */
  anchor?: PageAnchor & { resolved: ResolvedRecord };
}

/** One log, or all logs, of several nodes, merged by the queried node. Positions are times. */
export class ClusterSource implements LogSource {
  readonly nodes: readonly string[];
  readonly #deps: ClusterSourceDeps;
  #extent: Extent | undefined;

  constructor(deps: ClusterSourceDeps) {
    this.#deps = deps;
    this.nodes = (deps.members.nodes ?? []).filter((id) => !/[*?]/.test(id));
  }

  async page(request: PageRequest, options: PageOptions = {}): Promise<Page> {
    const { direction, limit, filter } = request;
    const searchStart = await this.#findStart(request, options);
    if (searchStart === undefined) return NOTHING;
    const query: SearchQuery & MemberSelection = {
      ...this.#selection,
      ...toRecordFilter(filter),
      order: direction === 'older' ? 'newest' : 'oldest',
      limit,
      before: 0,
      after: 0,
      raw: true,
      ...(searchStart.start && { start: searchStart.start }),
    };
    const { records, end } = await readSearch(this.#deps.cluster.searchLogs(query, options));
    const { anchor } = searchStart;
    const own = anchor ? records.filter((record) => isOnAnchorSide(record, anchor.resolved, anchor)) : records;
    const shown = sortRecords(own, direction);
    return {
      records: direction === 'older' ? shown.reverse() : shown,
      next: end.cursor,
      isOutOfTime: end.reason === 'time budget',
      scannedBytes: end.scannedBytes,
      reachedMs: (direction === 'older' ? end.coveredFromMs : end.coveredToMs) ?? null,
      problems: [...(end.problems ?? []), ...archiveProblem(end)],
      duplicates: end.duplicates ?? [],
      members: end.members,
    };
  }

  async *follow(
    { from, filter }: { from: FollowFrom; filter: RowFilter },
    options: { signal: AbortSignal },
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    const start = from === 'end' ? from : { timeMs: await this.#followTime(from, options) };
    const query = { ...this.#selection, ...toRecordFilter(filter), start, raw: true };
    yield* this.#deps.cluster.followLogs(query, { ...options, gaps: 'report' });
  }

  async histogram(
    { filter, buckets }: { filter: RowFilter; buckets: number },
    options: PageOptions = {},
  ): Promise<HistogramResult> {
    const query = { ...this.#selection, ...toRecordFilter(filter), buckets };
    const { bucketMs, buckets: counts, counted, members } = await this.#deps.cluster.logHistogram(query, options);
    return { bucketMs, buckets: counts, counted, members };
  }

  async fields(
    { filter, limit }: { filter: RowFilter; limit: number },
    options: PageOptions = {},
  ): Promise<FieldsResult> {
    return this.#deps.cluster.logFields({ ...this.#selection, ...toRecordFilter(filter), limit }, options);
  }

  async top(
    { filter, by, limit }: { filter: RowFilter; by: string; limit: number },
    options: PageOptions = {},
  ): Promise<TopResult> {
    return this.#deps.cluster.logTop({ ...this.#selection, ...toRecordFilter(filter), by, limit }, options);
  }

  async extent(options: { signal?: AbortSignal } = {}): Promise<Extent> {
    const { log, members } = this.#deps;
    const { files } = await this.#deps.cluster.logFiles(members, options);
    const own = files.filter((file) => log === null || (log.kind === 'family' ? file.family : file.name) === log.name);
    this.#extent = timeExtent(own.flatMap(({ firstTimeMs, lastTimeMs }) => [firstTimeMs, lastTimeMs]));
    return this.#extent;
  }

  fractionAt(record: ShownRecord, extent: Extent): number | undefined {
    return fractionOfTime(record, extent);
  }

  get #selection(): LogSelection & MemberSelection {
    const { log, members } = this.#deps;
    if (log === null) return members;
    return log.kind === 'family' ? { family: log.name, ...members } : { file: log.name, ...members };
  }

  async #findStart({ direction, from }: PageRequest, options: PageOptions): Promise<SearchStart | undefined> {
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
    const resolved = await resolveRecord(this.#deps.cluster, key, options);
    const anchor: PageAnchor = { side: 'at' in from ? 'at' : 'next', direction, key };
    return { start: { timeMs: anchorStartMs(resolved, direction) }, anchor: { ...anchor, resolved } };
  }

  async #followTime(from: Exclude<FollowFrom, 'end'>, options: { signal: AbortSignal }): Promise<number> {
    if ('timeMs' in from) return from.timeMs;
    const { atMs } = await resolveRecord(this.#deps.cluster, from.next, options);
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

/**
 * Sorts records of several nodes by time, in the requested direction; records of a late node come after the others. The
 * order within a node stays: a record without a timestamp, or out of order, stays after the one before it.
 */
export function sortRecords(records: readonly ShownRecord[], direction: PageRequest['direction']): ShownRecord[] {
  const sign = direction === 'older' ? -1 : 1;
  const reached = new Map<string, number>();
  const keyed = records.map((record) => {
    const before = reached.get(record.node) ?? -Infinity;
    const key = record.atMs === undefined ? before : Math.max(before, sign * record.atMs);
    reached.set(record.node, key);
    return { record, key };
  });
  return keyed.sort((a, b) => (a.key === b.key ? 0 : a.key - b.key)).map(({ record }) => record);
}

/** What only the archive has is missing. */
function archiveProblem({ archive }: ClusterEnd): ShownProblem[] {
  if (!archive?.problem) return [];
  return [{ node: 'archive', file: 'older records', code: 'ARCHIVE_UNAVAILABLE', detail: archive.problem }];
}
