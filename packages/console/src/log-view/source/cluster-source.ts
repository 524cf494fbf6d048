import type { Client, ClusterEnd, ClusterItem, LogSelection, MemberSelection } from '@porthole/client';
import { readSearch } from '../../state/read-search.ts';
import { logSource } from '../../state/source-text.ts';
import {
  type Direction,
  EMPTY_PAGE,
  type LogSource,
  type Page,
  type PageOptions,
  type PageRequest,
  type RowFilter,
  type ShownProblem,
  type ShownRecord,
} from './log-source.ts';
import { type FollowStart, type TimePosition, TimeSource, toRecordFilter } from './time-source.ts';

interface ClusterSourceDeps {
  client: Client;
  members: MemberSelection;
  log: { kind: 'family' | 'file'; name: string } | null;
}

/** One log, or all logs, of several nodes, merged by the queried node. */
export class ClusterSource extends TimeSource implements LogSource {
  readonly nodes: readonly string[];
  readonly #deps: ClusterSourceDeps;

  constructor(deps: ClusterSourceDeps) {
    super(deps.client);
    this.#deps = deps;
    this.nodes = (deps.members.nodes ?? []).filter((id) => !/[*?]/.test(id));
  }

  histogram: LogSource['histogram'] = async ({ filter, ...grid }, options) =>
    this.#deps.client.histogram({ ...this.#select(filter), ...grid }, options);

  fields: LogSource['fields'] = async ({ filter, limit }, options) =>
    this.#deps.client.fields({ ...this.#select(filter), limit }, options);

  top: LogSource['top'] = async ({ filter, ...counted }, options) =>
    this.#deps.client.top({ ...this.#select(filter), ...counted }, options);

  protected async pageFrom(from: TimePosition, request: PageRequest, options: PageOptions): Promise<Page> {
    const { direction, limit, filter } = request;
    const isOlder = direction === 'older';
    if (from === (isOlder ? 'start' : 'end')) return EMPTY_PAGE;
    const start = typeof from === 'string' ? undefined : 'page' in from ? { cursor: from.page } : from;
    const query = {
      ...this.#select(filter),
      ...({ order: isOlder ? 'newest' : 'oldest', limit, before: 0, after: 0, raw: true } as const),
      ...(start && { start }),
    };
    const { records, end } = await readSearch<ClusterItem>(this.#deps.client.search(query, options));
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

  protected followFrom(start: FollowStart, filter: RowFilter, options: { signal: AbortSignal }) {
    const query = { ...this.#select(filter), start, raw: true };
    return this.#deps.client.follow(query, { ...options, gaps: 'report' });
  }

  protected async times(options: { signal?: AbortSignal }): Promise<(number | null)[]> {
    const { log, members, client } = this.#deps;
    const { files } = await client.logFiles(members, options);
    const own = files.filter((file) => log === null || (log.kind === 'family' ? file.family : file.name) === log.name);
    return own.flatMap(({ firstTimeMs, lastTimeMs }) => [firstTimeMs, lastTimeMs]);
  }

  #select(filter: RowFilter): LogSelection & MemberSelection {
    const { log, members } = this.#deps;
    const own = log === null ? {} : { src: [logSource(log)] };
    return { ...own, ...members, ...toRecordFilter(filter) };
  }
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
