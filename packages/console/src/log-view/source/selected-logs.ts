import {
  type ClusterEnd,
  type MemberSelection,
  type NodeClient,
  PortholeError,
  type RecordFilter,
} from '@porthole/client';
import { isPattern, parseQuery } from '@porthole/contract';
import { readSearch } from '../../state/read-search.ts';
import { toSelection } from '../../state/source-text.ts';
import type { LogsView, RecordKey } from '../../state/view.ts';
import {
  type Direction,
  isShown,
  type LogSource,
  type Page,
  type PageOptions,
  type PageRequest,
  type RowFilter,
  recordKey,
  type ShownProblem,
  type ShownRecord,
} from './log-source.ts';

/** Records of one millisecond of one node that are searched for the target. */
const MAX_CANDIDATES = 400;

/** Clock offsets are measured repeatedly: between two responses a record may move by this much. */
const UNSURE_MS = 50;

type SearchStart = { cursor: string } | { timeMs: number };

/** The logs that a view selects, of all nodes that have them: each question is one request. */
export class SelectedLogs implements LogSource {
  readonly nodes: readonly string[];
  readonly #client: NodeClient;
  readonly #selection: MemberSelection;

  constructor(client: NodeClient, choices: Pick<LogsView, 'sources' | 'labels'>) {
    this.nodes = [...new Set(choices.sources.map(({ node }) => node).filter((node) => !isPattern(node)))];
    this.#client = client;
    this.#selection = toSelection(choices);
  }

  async page(request: PageRequest, options: PageOptions = {}): Promise<Page> {
    const { direction, from } = request;
    if (from === (direction === 'older' ? 'start' : 'end')) return NO_RECORDS;
    if (from === 'start' || from === 'end') return this.#search(request, {}, options);
    if ('page' in from) return this.#search(request, { start: { cursor: from.page } }, options);
    if ('timeMs' in from) return this.#search(request, { start: from }, options);
    return this.#beside(request, 'at' in from ? from.at : from.next, options);
  }

  follow: LogSource['follow'] = ({ from, filter }, options) =>
    this.#client.follow({ ...this.#asked(filter), start: from, raw: true }, { ...options, gaps: 'report' });

  histogram: LogSource['histogram'] = async ({ filter, ...counted }, options) =>
    this.#client.histogram({ ...this.#asked(filter), ...counted }, options);

  fields: LogSource['fields'] = async ({ filter, ...counted }, options) =>
    this.#client.fields({ ...this.#asked(filter), ...counted }, options);

  top: LogSource['top'] = async ({ filter, ...counted }, options) =>
    this.#client.top({ ...this.#asked(filter), ...counted }, options);

  digest: LogSource['digest'] = async ({ filter, ...counted }, options) =>
    this.#client.digest({ ...this.#asked(filter), ...counted }, options);

  extent: LogSource['extent'] = async (options) => {
    const { files } = await this.#client.logFiles(this.#selection, options);
    const times = files
      .flatMap(({ firstTimeMs, lastTimeMs }) => [firstTimeMs, lastTimeMs])
      .filter((timeMs) => timeMs !== null);
    return times.length === 0 ? null : { firstMs: Math.min(...times), lastMs: Math.max(...times) };
  };

  async #search(
    { direction, limit, filter }: PageRequest,
    position: { start?: SearchStart },
    options: PageOptions,
  ): Promise<Page> {
    const isOlder = direction === 'older';
    const order = isOlder ? 'newest' : 'oldest';
    const query = { ...this.#asked(filter), ...position, order, limit, before: 0, after: 0, raw: true } as const;
    const { records, end } = await readSearch(this.#client.search(query, options));
    const shown = sortRecords(records, direction);
    return {
      records: isOlder ? shown.reverse() : shown,
      next: end.cursor,
      scannedBytes: end.scannedBytes,
      reachedMs: (isOlder ? end.coveredFromMs : end.coveredToMs) ?? null,
      problems: [...(end.problems ?? []), ...archiveProblem(end)],
      duplicates: end.duplicates ?? [],
      members: end.members,
    };
  }

  /** A page that begins at a record, or next to it. */
  async #beside(request: PageRequest, key: RecordKey, options: PageOptions): Promise<Page> {
    const { direction, limit } = request;
    const { atMs, record } = await this.#resolve(key, options);
    // Misses nothing on the wanted side of the record.
    let start: SearchStart = { timeMs: atMs + (direction === 'newer' ? -UNSURE_MS : UNSURE_MS + 1) };
    const all: Page = { ...NO_RECORDS };
    for (;;) {
      const page = await this.#search({ ...request, limit: limit - all.records.length }, { start }, options);
      const own = page.records.filter((found) => isOnAnchorSide(found, { atMs, record, key, request }));
      Object.assign(all, page, {
        records: direction === 'newer' ? [...all.records, ...own] : [...own, ...all.records],
        scannedBytes: all.scannedBytes + page.scannedBytes,
        problems: [...all.problems, ...page.problems],
      });
      // Of many records of the same time, the first may all be on the other side.
      const isShort = own.length < page.records.length && all.records.length < limit;
      if (!isShort || page.next === null) return all;
      start = { cursor: page.next };
    }
  }

  /**
   * Requests the time of a record from its node, unless it is known. A record without a timestamp has that of the one
   * before it.
   */
  async #resolve(key: RecordKey, options: { signal?: AbortSignal }): Promise<ResolvedRecord> {
    if (isShown(key) && key.atMs !== undefined) return { atMs: key.atMs, record: key };
    const { node, cursor } = key;
    const request = { at: { node, cursor }, nodes: [node], beforeMs: 1, afterMs: 1, limit: MAX_CANDIDATES };
    const { records } = await readSearch(this.#client.around(request, options));
    const record = records.find((candidate) => recordKey(candidate) === recordKey(key));
    const atMs = record?.atMs ?? records.find((candidate) => candidate.atMs !== undefined)?.atMs;
    if (atMs === undefined)
      throw new PortholeError('CURSOR_GONE', `node "${node}" returned no timestamp for this record`);
    return { atMs, record: record ?? (isShown(key) ? key : undefined) };
  }

  #asked({ query = '', ...filter }: RowFilter): RecordFilter & MemberSelection {
    const node = parseQuery(query);
    return { ...this.#selection, ...filter, ...(node && { query: node }) };
  }
}

const NO_RECORDS: Page = {
  records: [],
  next: null,
  scannedBytes: 0,
  reachedMs: null,
  problems: [],
  duplicates: [],
  members: [],
};

/** The time of a record by the clock of the queried node, and the record itself if it was found. */
interface ResolvedRecord {
  atMs: number;
  record: ShownRecord | undefined;
}

interface PageAnchor extends ResolvedRecord {
  key: RecordKey;
  request: PageRequest;
}

/**
 * Whether a record belongs to a page that begins at another one. Within the same file the order is certain. Other
 * records are compared by time, which is not exact: uncertain ones are included, and callers recognise duplicates by
 * their keys. Only a page that begins with the record itself leaves them to the page on its other side.
 */
function isOnAnchorSide(candidate: ShownRecord, { key, atMs, record, request }: PageAnchor): boolean {
  const { direction, from } = request;
  const isAt = typeof from === 'object' && 'at' in from;
  if (recordKey(candidate) === recordKey(key)) return isAt && direction === 'newer';
  if (record && candidate.node === record.node && candidate.file === record.file)
    return direction === 'newer' ? candidate.offset >= record.offset : candidate.offset < record.offset;
  if (candidate.atMs === undefined || !isAt || direction === 'older') return true;
  return candidate.atMs >= atMs;
}

/**
 * Sorts records of several nodes by time, in the requested direction; records of a late node come after the others. The
 * order within a node stays: a record without a timestamp, or out of order, stays after the one before it.
 */
export function sortRecords(records: readonly ShownRecord[], direction: Direction): ShownRecord[] {
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
