import type {
  ClusterFollowItem,
  FollowItem,
  FoundRecord,
  LogFileDetails,
  LogSelection,
  MemberReport,
  NodeOperations,
  RecordFilter,
  SearchEnd,
  StartPoint,
} from '@porthole/client';
import { coverageOf, fileSource, missingText } from '@porthole/contract';
import { Shared } from '@porthole/logs/shared';
import { readSearch } from '../../state/read-search.ts';
import { logSource } from '../../state/source-text.ts';
import type { KnownNodes } from './create-source.ts';
import {
  type Direction,
  EMPTY_PAGE,
  type Extent,
  type FollowRequest,
  fractionOfTime,
  type HistogramResult,
  type LogSource,
  type Page,
  type PageOptions,
  type PageRequest,
  type RowFilter,
  type ShownRecord,
} from './log-source.ts';
import { toRecordFilter } from './time-source.ts';

/** Prefix of a file name in `next`, when no record marks the position. Never starts a cursor. */
const FILE_MARK = '>';

interface NodeSourceDeps {
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
    const { id, node } = this.#deps;
    const { direction, limit, filter } = request;
    const isOlder = direction === 'older';
    const searchStart = await this.#findStart(request, options);
    if (searchStart === undefined)
      return { ...EMPTY_PAGE, members: [nodeReport(id, { elapsedMs: 0, records: 0, problems: [] })] };
    const offsetMs = this.#offsetMs;
    const { file, start } = searchStart;
    const query = {
      ...this.#select(filter, offsetMs, file),
      ...({ order: isOlder ? 'newest' : 'oldest', limit, before: 0, after: 0, raw: true } as const),
      ...(start && { start }),
    };
    const { records, end } = await readSearch(node.searchLogs(query, options));
    const shown = records.map((record) => showRecord(record, id, offsetMs));
    const reachedMs = isOlder ? end.coveredFromMs : end.coveredToMs;
    return {
      next: end.cursor ?? this.#nextFile(file, direction, shown.at(-1)),
      records: isOlder ? shown.reverse() : shown,
      scannedBytes: end.scannedBytes,
      reachedMs: reachedMs === null ? null : reachedMs - offsetMs,
      problems: end.problems.map((problem) => ({ ...problem, node: id })),
      duplicates: (end.duplicates ?? []).map((duplicate) => ({ ...duplicate, node: id })),
      members: [nodeReport(id, end)],
    };
  }

  async *follow(
    { from, filter }: FollowRequest,
    options: { signal: AbortSignal },
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    const { node, id } = this.#deps;
    const offsetMs = this.#offsetMs;
    const start =
      from === 'end' ? from : 'next' in from ? { cursor: from.next.cursor } : { timeMs: from.timeMs + offsetMs };
    const query = { ...this.#select(filter, offsetMs), start, raw: true };
    for await (const items of node.followLogs(query, { ...options, gaps: 'report' }))
      yield items.map((item) => toClusterItem(item, id, this.#offsetMs));
  }

  histogram: LogSource['histogram'] = async ({ filter, ...grid }, options) => {
    const offsetMs = this.#offsetMs;
    const { bucketMs, buckets, end } = await this.#deps.node.logHistogram(
      { ...this.#select(filter, offsetMs), ...grid },
      options,
    );
    return { bucketMs, buckets: corrected(buckets, offsetMs), ...this.#coverage(end, offsetMs) };
  };

  fields: LogSource['fields'] = async ({ filter, limit }, options) => {
    const offsetMs = this.#offsetMs;
    const { end, ...fields } = await this.#deps.node.logFields({ ...this.#select(filter, offsetMs), limit }, options);
    return { ...fields, ...this.#coverage(end, offsetMs) };
  };

  top: LogSource['top'] = async ({ filter, ...counted }, options) => {
    const offsetMs = this.#offsetMs;
    const { end, ...counts } = await this.#deps.node.logTop({ ...this.#select(filter, offsetMs), ...counted }, options);
    const values = counts.values.map(({ buckets, ...value }) => ({
      ...value,
      ...(buckets && { buckets: corrected(buckets, offsetMs) }),
    }));
    return { ...counts, values, ...this.#coverage(end, offsetMs) };
  };

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

  /** By the time if the file was rotated since. */
  fractionAt(record: ShownRecord, extent: Extent): number | undefined {
    return this.#bytes?.fractionAt(record) ?? fractionOfTime(record, extent);
  }

  /** To subtract from the timestamps of the node; 0 if its clock is unknown. */
  get #offsetMs(): number {
    const { id, clusterNodes } = this.#deps;
    return clusterNodes()?.nodes.find((node) => node.id === id)?.clock?.offsetMs ?? 0;
  }

  /** The log, or one of its files, and the filter in the time of the node. */
  #select(filter: RowFilter, offsetMs: number, file?: string): LogSelection & RecordFilter {
    const { fromMs, toMs, ...rest } = toRecordFilter(filter);
    return {
      src: [file === undefined ? logSource(this.#deps.log) : fileSource(file)],
      ...rest,
      ...(fromMs !== undefined && { fromMs: fromMs + offsetMs }),
      ...(toMs !== undefined && { toMs: toMs + offsetMs }),
    };
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
  #nextFile(file: string | undefined, direction: Direction, last: ShownRecord | undefined): string | null {
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

function corrected<Bucket extends { startMs: number }>(buckets: readonly Bucket[], offsetMs: number): Bucket[] {
  return buckets.map((bucket) => ({ ...bucket, startMs: bucket.startMs - offsetMs }));
}

function toClusterItem(item: FollowItem, node: string, offsetMs: number): ClusterFollowItem {
  if (item.type === 'record') return showRecord(item, node, offsetMs);
  if (item.type === 'reconnecting' || item.type === 'end') return item;
  return { ...item, node };
}

function showRecord(record: FoundRecord, node: string, offsetMs: number): ShownRecord {
  const { timeMs } = record;
  return timeMs === undefined ? { ...record, node } : { ...record, node, atMs: timeMs - offsetMs };
}

/** The report of a node that was asked itself. */
function nodeReport(id: string, end: Pick<SearchEnd, 'elapsedMs' | 'records' | 'problems' | 'limits'>): MemberReport {
  const { elapsedMs, records: count, problems, limits } = end;
  const gaps = coverageOf({ problems, limits }).missing.map((part) => missingText(part));
  const detail = gaps.length === 0 ? null : gaps.join('; ');
  return { id, outcome: 'ok', detail, elapsedMs, count, asOfMs: null, ...(gaps.length > 0 && { isPartial: true }) };
}

/** Where a fraction of a log's bytes is. */
type BytePosition =
  /** Offset in an uncompressed file. */
  | { file: string; offset: number }
  /** In a compressed file, estimated from its times. By the node's clock. */
  | { timeMs: number };

type LogFile = Pick<
  LogFileDetails,
  'name' | 'size' | 'compressed' | 'state' | 'firstTimeMs' | 'lastTimeMs' | 'modifiedMs'
>;

/** The files of one log, oldest first, as one range of bytes. */
export class LogBytes {
  readonly files: readonly LogFile[];
  readonly totalBytes: number;

  constructor(files: readonly LogFile[]) {
    this.files = files.toSorted(byAge);
    this.totalBytes = files.reduce((sum, { size }) => sum + size, 0);
  }

  extent(offsetMs: number): Extent {
    const times = this.files.flatMap(({ firstTimeMs, lastTimeMs }) => [firstTimeMs, lastTimeMs]).filter(isTime);
    return {
      kind: 'bytes',
      totalBytes: this.totalBytes,
      firstMs: times.length === 0 ? null : Math.min(...times) - offsetMs,
      lastMs: times.length === 0 ? null : Math.max(...times) - offsetMs,
    };
  }

  /** `undefined` if there is no file. */
  positionAt(fraction: number): BytePosition | undefined {
    let left = Math.min(1, Math.max(0, fraction)) * this.totalBytes;
    for (const file of this.files) {
      if (left < file.size) return positionIn(file, left);
      left -= file.size;
    }
    const last = this.files.at(-1);
    return last && positionIn(last, last.size);
  }

  fractionAt({ file: name, offset, timeMs }: ShownRecord): number | undefined {
    let before = 0;
    for (const file of this.files) {
      if (file.name === name) {
        const inside = file.compressed ? shareOfTime(file, timeMs) : Math.min(1, offset / Math.max(1, file.size));
        return inside === undefined || this.totalBytes === 0
          ? undefined
          : (before + inside * file.size) / this.totalBytes;
      }
      before += file.size;
    }
    return undefined;
  }

  neighbour(name: string, direction: 'older' | 'newer'): string | undefined {
    const index = this.files.findIndex((file) => file.name === name);
    if (index < 0) return undefined;
    return this.files[index + (direction === 'older' ? -1 : 1)]?.name;
  }
}

function positionIn(file: LogFile, bytes: number): BytePosition {
  const { name, size, compressed, firstTimeMs, lastTimeMs } = file;
  if (!compressed) return { file: name, offset: Math.floor(bytes) };
  if (!isTime(firstTimeMs) || !isTime(lastTimeMs) || size === 0) return { file: name, offset: 0 };
  return { timeMs: Math.round(firstTimeMs + (bytes / size) * (lastTimeMs - firstTimeMs)) };
}

function shareOfTime({ firstTimeMs, lastTimeMs }: LogFile, timeMs: number | undefined): number | undefined {
  if (!isTime(firstTimeMs) || !isTime(lastTimeMs) || timeMs === undefined) return undefined;
  if (lastTimeMs <= firstTimeMs) return 0;
  return Math.min(1, Math.max(0, (timeMs - firstTimeMs) / (lastTimeMs - firstTimeMs)));
}

/** The live file is the newest, whatever its times say. */
function byAge(a: LogFile, b: LogFile): number {
  if (a.state !== b.state) return a.state === 'live' ? 1 : -1;
  return startTime(a) - startTime(b) || a.modifiedMs - b.modifiedMs;
}

function startTime({ firstTimeMs, modifiedMs }: LogFile): number {
  return firstTimeMs ?? modifiedMs;
}

function isTime(timeMs: number | null): timeMs is number {
  return timeMs !== null;
}
