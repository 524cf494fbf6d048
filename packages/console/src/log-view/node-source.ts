import type { ClusterFollowItem, FollowItem, LogSelection, NodeState, SearchQuery, StartPoint } from '@porthole/client';
import { LogBytes } from './log-bytes.ts';
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
import { type KnownNodes, offsetOf, okReport, shiftFilter, showRecord } from './shown-record.ts';

/** Before the name of the file with which a page goes on, where no record tells the place. Never starts a cursor. */
const FILE_MARK = '>';

export interface NodeSourceParts {
  id: string;
  node: NodeState;
  log: { kind: 'family' | 'file'; name: string };
  clusterNodes: KnownNodes;
}

/** Where a search begins, and in which file if only in one. */
interface Beginning {
  start?: StartPoint;
  file?: string;
}

/** One log of one node: everything is exact, because a place in it is a place in bytes. */
export class NodeSource implements LogSource {
  readonly nodes: readonly string[];
  readonly #parts: NodeSourceParts;
  /** Both pages around a place ask for it at once, and must mean the same place. */
  #asking: Promise<LogBytes> | undefined;
  #bytes: LogBytes | undefined;

  constructor(parts: NodeSourceParts) {
    this.#parts = parts;
    this.nodes = [parts.id];
  }

  async page(request: PageRequest, options: PageOptions = {}): Promise<Page> {
    const { direction, limit, filter } = request;
    const beginning = await this.#beginningOf(request, options);
    if (beginning === undefined) return nothing(this.#parts.id);
    const offsetMs = this.#offsetMs;
    const { file, start } = beginning;
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
    const { records, end } = await readSearch(this.#parts.node.searchLogs(query, options));
    const shown = records.map((record) => showRecord(record, this.#parts.id, offsetMs));
    const reachedMs = direction === 'older' ? end.coveredFromMs : end.coveredToMs;
    return {
      next: end.cursor ?? this.#behind(file, { direction, last: shown.at(-1) }),
      records: direction === 'older' ? shown.reverse() : shown,
      isOutOfTime: end.reason === 'time budget',
      scannedBytes: end.scannedBytes,
      reachedMs: reachedMs === null ? null : reachedMs - offsetMs,
      problems: end.problems.map((problem) => ({ ...problem, node: this.#parts.id })),
      duplicates: (end.duplicates ?? []).map((duplicate) => ({ ...duplicate, node: this.#parts.id })),
      members: [okReport(this.#parts.id, { elapsedMs: end.elapsedMs, count: end.records })],
    };
  }

  async *follow(
    { from, filter }: { from: FollowFrom; filter: RowFilter },
    options: { signal: AbortSignal },
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    const { node, id } = this.#parts;
    const offsetMs = this.#offsetMs;
    const start =
      from === 'end' ? from : 'next' in from ? { cursor: from.next.cursor } : { timeMs: from.timeMs + offsetMs };
    const query = { ...this.#selection, ...shiftFilter(filter, offsetMs), start, raw: true };
    for await (const items of node.followLogs(query, { ...options, gaps: 'report' }))
      yield items.map((item) => tell(item, id, this.#offsetMs));
  }

  async histogram(
    { filter, buckets }: { filter: RowFilter; buckets: number },
    options: PageOptions = {},
  ): Promise<HistogramAnswer> {
    const offsetMs = this.#offsetMs;
    const query = { ...this.#selection, ...shiftFilter(filter, offsetMs), buckets };
    const { end, ...counts } = await this.#parts.node.logHistogram(query, options);
    const isWhole = end.reason === 'exhausted' || end.coveredFromMs === null || end.coveredToMs === null;
    return {
      bucketMs: counts.bucketMs,
      buckets: counts.buckets.map((bucket) => ({ ...bucket, startMs: bucket.startMs - offsetMs })),
      counted: isWhole
        ? end.reason === 'exhausted'
          ? null
          : { fromMs: 0, toMs: 0 }
        : { fromMs: (end.coveredFromMs ?? 0) - offsetMs, toMs: (end.coveredToMs ?? 0) - offsetMs },
      members: [okReport(this.#parts.id, { elapsedMs: end.elapsedMs, count: end.records })],
    };
  }

  async extent(options: { signal?: AbortSignal } = {}): Promise<Extent> {
    return (await this.#lookAtFiles(options)).extent(this.#offsetMs);
  }

  fractionOf(record: ShownRecord, extent: Extent): number | undefined {
    const known = this.#bytes?.fractionOf(record);
    if (known !== undefined || record.atMs === undefined) return known;
    // Its file was rotated since: its time is still a place.
    const { firstMs, lastMs } = extent;
    if (firstMs === null || lastMs === null || lastMs <= firstMs) return undefined;
    return Math.min(1, Math.max(0, (record.atMs - firstMs) / (lastMs - firstMs)));
  }

  get #offsetMs(): number {
    return offsetOf(this.#parts.id, this.#parts.clusterNodes);
  }

  get #selection(): LogSelection {
    const { kind, name } = this.#parts.log;
    return kind === 'family' ? { family: name } : { file: name };
  }

  /** `undefined` where nothing can be in that direction. */
  async #beginningOf({ direction, from }: PageRequest, options: PageOptions): Promise<Beginning | undefined> {
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
    if (!this.#bytes) this.#asking ??= this.#lookAtFiles({});
    const bytes = this.#bytes ?? (await this.#asking);
    options.signal?.throwIfAborted();
    const place = bytes?.placeAt(from.fraction);
    if (place === undefined) return undefined;
    return 'timeMs' in place ? { start: place } : { file: place.file, start: { offset: place.offset } };
  }

  /** How a page of one file of several goes on when that file has no more. */
  #behind(
    file: string | undefined,
    { direction, last }: { direction: 'older' | 'newer'; last: ShownRecord | undefined },
  ): string | null {
    if (file === undefined || this.#parts.log.kind === 'file') return null;
    const besides = this.#bytes?.besides(file, direction);
    if (besides === undefined) return null;
    return last?.cursor ?? `${FILE_MARK}${besides}`;
  }

  async #lookAtFiles(options: { signal?: AbortSignal }): Promise<LogBytes> {
    try {
      const files = await this.#parts.node.logFiles(options);
      const { kind, name } = this.#parts.log;
      this.#bytes = new LogBytes(files.filter((file) => (kind === 'family' ? file.family : file.name) === name));
      return this.#bytes;
    } finally {
      this.#asking = undefined;
    }
  }
}

function tell(item: FollowItem, node: string, offsetMs: number): ClusterFollowItem {
  if (item.type === 'record') return showRecord(item, node, offsetMs);
  if (item.type === 'reconnecting' || item.type === 'end') return item;
  return { ...item, node };
}

function nothing(id: string): Page {
  const members = [okReport(id, { elapsedMs: 0, count: 0 })];
  const found = { records: [], problems: [], duplicates: [], members };
  return { ...found, next: null, isOutOfTime: false, scannedBytes: 0, reachedMs: null };
}
