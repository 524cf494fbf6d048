import type {
  ClusterFollowItem,
  FollowItem,
  LogSelection,
  NodeOperations,
  SearchEnd,
  SearchQuery,
  StartPoint,
} from '@porthole/client';
import { Shared } from '@porthole/logs/shared';
import { LogBytes } from './log-bytes.ts';
import type {
  Extent,
  FieldsResult,
  FollowFrom,
  HistogramResult,
  LogSource,
  Page,
  PageOptions,
  PageRequest,
  RowFilter,
  ShownRecord,
  TopResult,
} from './log-source.ts';
import { readSearch } from './resolve-record.ts';
import { clockOffset, type KnownNodes, nodeReport, shiftFilter, showRecord } from './shown-record.ts';

/** Prefix of a file name in `next`, when no record marks the position. Never starts a cursor. */
const FILE_MARK = '>';

export interface NodeSourceDeps {
  id: string;
  node: NodeOperations;
  log: { kind: 'family' | 'file'; name: string };
  clusterNodes: KnownNodes;
}

/** Where a search begins, and the file if it is limited to one. */
interface SearchStart {
  start?: StartPoint;
  file?: string;
}

/** One log of one node: positions are exact because they are byte offsets. */
export class NodeSource implements LogSource {
  readonly nodes: readonly string[];
  readonly #deps: NodeSourceDeps;
  /** Both pages around a position resolve it at once and must agree. */
  readonly #loadingFiles = new Shared<LogBytes>({ endsUnwatched: true });
  #bytes: LogBytes | undefined;

  constructor(deps: NodeSourceDeps) {
    this.#deps = deps;
    this.nodes = [deps.id];
  }

  async page(request: PageRequest, options: PageOptions = {}): Promise<Page> {
    const { direction, limit, filter } = request;
    const searchStart = await this.#findStart(request, options);
    if (searchStart === undefined) return emptyPage(this.#deps.id);
    const offsetMs = this.#offsetMs;
    const { file, start } = searchStart;
    const query: SearchQuery = {
      ...(file === undefined ? this.#selection : { file }),
      ...shiftFilter(filter, offsetMs),
      order: direction === 'older' ? 'newest' : 'oldest',
      limit,
      before: 0,
      after: 0,
      raw: true,
      ...(start && { start }),
    };
    const { records, end } = await readSearch(this.#deps.node.searchLogs(query, options));
    const shown = records.map((record) => showRecord(record, this.#deps.id, offsetMs));
    const reachedMs = direction === 'older' ? end.coveredFromMs : end.coveredToMs;
    return {
      next: end.cursor ?? this.#nextFile(file, { direction, last: shown.at(-1) }),
      records: direction === 'older' ? shown.reverse() : shown,
      isOutOfTime: end.reason === 'time budget',
      scannedBytes: end.scannedBytes,
      reachedMs: reachedMs === null ? null : reachedMs - offsetMs,
      problems: end.problems.map((problem) => ({ ...problem, node: this.#deps.id })),
      duplicates: (end.duplicates ?? []).map((duplicate) => ({ ...duplicate, node: this.#deps.id })),
      members: [nodeReport(this.#deps.id, end)],
    };
  }

  async *follow(
    { from, filter }: { from: FollowFrom; filter: RowFilter },
    options: { signal: AbortSignal },
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    const { node, id } = this.#deps;
    const offsetMs = this.#offsetMs;
    const start =
      from === 'end' ? from : 'next' in from ? { cursor: from.next.cursor } : { timeMs: from.timeMs + offsetMs };
    const query = { ...this.#selection, ...shiftFilter(filter, offsetMs), start, raw: true };
    for await (const items of node.followLogs(query, { ...options, gaps: 'report' }))
      yield items.map((item) => toClusterItem(item, id, this.#offsetMs));
  }

  async histogram(
    { filter, buckets }: { filter: RowFilter; buckets: number },
    options: PageOptions = {},
  ): Promise<HistogramResult> {
    const offsetMs = this.#offsetMs;
    const query = { ...this.#selection, ...shiftFilter(filter, offsetMs), buckets };
    const { end, ...counts } = await this.#deps.node.logHistogram(query, options);
    return {
      bucketMs: counts.bucketMs,
      buckets: counts.buckets.map((bucket) => ({ ...bucket, startMs: bucket.startMs - offsetMs })),
      ...this.#coverage(end, offsetMs),
    };
  }

  async fields(
    { filter, limit }: { filter: RowFilter; limit: number },
    options: PageOptions = {},
  ): Promise<FieldsResult> {
    const offsetMs = this.#offsetMs;
    const query = { ...this.#selection, ...shiftFilter(filter, offsetMs), limit };
    const { end, ...fields } = await this.#deps.node.logFields(query, options);
    return { ...fields, ...this.#coverage(end, offsetMs) };
  }

  async top(
    { filter, by, limit }: { filter: RowFilter; by: string; limit: number },
    options: PageOptions = {},
  ): Promise<TopResult> {
    const offsetMs = this.#offsetMs;
    const query = { ...this.#selection, ...shiftFilter(filter, offsetMs), by, limit };
    const { end, ...counts } = await this.#deps.node.logTop(query, options);
    return { ...counts, ...this.#coverage(end, offsetMs) };
  }

  /** What was counted, in corrected time. */
  #coverage(end: Omit<SearchEnd, 'type' | 'cursor'>, offsetMs: number): Pick<HistogramResult, 'counted' | 'members'> {
    const { reason, coveredFromMs, coveredToMs } = end;
    const members = [nodeReport(this.#deps.id, end)];
    if (reason === 'exhausted') return { counted: null, members };
    if (coveredFromMs === null || coveredToMs === null) return { counted: { fromMs: 0, toMs: 0 }, members };
    return { counted: { fromMs: coveredFromMs - offsetMs, toMs: coveredToMs - offsetMs }, members };
  }

  async extent(options: { signal?: AbortSignal } = {}): Promise<Extent> {
    return (await this.#loadFiles(options)).extent(this.#offsetMs);
  }

  fractionAt(record: ShownRecord, extent: Extent): number | undefined {
    const known = this.#bytes?.fractionAt(record);
    if (known !== undefined || record.atMs === undefined) return known;
    // The file was rotated since: fall back to the time.
    const { firstMs, lastMs } = extent;
    if (firstMs === null || lastMs === null || lastMs <= firstMs) return undefined;
    return Math.min(1, Math.max(0, (record.atMs - firstMs) / (lastMs - firstMs)));
  }

  get #offsetMs(): number {
    return clockOffset(this.#deps.id, this.#deps.clusterNodes);
  }

  get #selection(): LogSelection {
    const { kind, name } = this.#deps.log;
    return kind === 'family' ? { family: name } : { file: name };
  }

  /** `undefined` if nothing can be in that direction. */
  async #findStart({ direction, from }: PageRequest, options: PageOptions): Promise<SearchStart | undefined> {
    if (from === 'start') return direction === 'newer' ? {} : undefined;
    if (from === 'end') return direction === 'older' ? {} : undefined;
    if ('timeMs' in from) return { start: { timeMs: from.timeMs + this.#offsetMs } };
    if ('at' in from) return { start: { record: from.at.cursor } };
    if ('next' in from) return { start: { cursor: from.next.cursor } };
    if ('page' in from) {
      if (!from.page.startsWith(FILE_MARK)) return { start: { cursor: from.page } };
      return { file: from.page.slice(FILE_MARK.length) };
    }
    if (from.fraction <= 0) return direction === 'newer' ? {} : undefined;
    if (from.fraction >= 1) return direction === 'older' ? {} : undefined;
    const bytes = this.#bytes ?? (await this.#loadingFiles.run((signal) => this.#loadFiles({ signal }), options));
    const position = bytes.positionAt(from.fraction);
    if (position === undefined) return undefined;
    return 'timeMs' in position ? { start: position } : { file: position.file, start: { offset: position.offset } };
  }

  /** Continues in the next file of the log. */
  #nextFile(
    file: string | undefined,
    { direction, last }: { direction: 'older' | 'newer'; last: ShownRecord | undefined },
  ): string | null {
    if (file === undefined || this.#deps.log.kind === 'file') return null;
    const nextFile = this.#bytes?.neighbour(file, direction);
    if (nextFile === undefined) return null;
    return last?.cursor ?? `${FILE_MARK}${nextFile}`;
  }

  async #loadFiles(options: { signal?: AbortSignal }): Promise<LogBytes> {
    const files = await this.#deps.node.logFiles(options);
    const { kind, name } = this.#deps.log;
    this.#bytes = new LogBytes(files.filter((file) => (kind === 'family' ? file.family : file.name) === name));
    return this.#bytes;
  }
}

function toClusterItem(item: FollowItem, node: string, offsetMs: number): ClusterFollowItem {
  if (item.type === 'record') return showRecord(item, node, offsetMs);
  if (item.type === 'reconnecting' || item.type === 'end') return item;
  return { ...item, node };
}

function emptyPage(id: string): Page {
  const members = [nodeReport(id, { elapsedMs: 0, records: 0, problems: [] })];
  const found = { records: [], problems: [], duplicates: [], members };
  return { ...found, next: null, isOutOfTime: false, scannedBytes: 0, reachedMs: null };
}
