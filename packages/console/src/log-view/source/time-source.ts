import {
  type Client,
  type ClusterFollowItem,
  type ClusterItem,
  PortholeError,
  type RecordFilter,
} from '@porthole/client';
import { parseQuery } from '@porthole/contract';
import { readSearch } from '../../state/read-search.ts';
import type { RecordKey } from '../../state/view.ts';
import {
  type Direction,
  type Extent,
  type FollowRequest,
  fractionOfTime,
  isShown,
  type Page,
  type PageOptions,
  type PageRequest,
  type RowFilter,
  recordKey,
  type ShownRecord,
} from './log-source.ts';

/** Resuming by time goes back this far, like the nodes do: a slow member may write older records a little later. */
const FOLLOW_OVERLAP_MS = 5000;

/** Records of one millisecond of one node that are searched for the target. */
const MAX_CANDIDATES = 400;

/**
 * Clock offsets are measured repeatedly with slightly different results: between two responses a record may move by
 * this much.
 */
const UNSURE_MS = 50;

/** A position that needs no lookup. */
export type TimePosition = 'start' | 'end' | { timeMs: number } | { page: string };

export type FollowStart = 'end' | { timeMs: number };

/** A source whose positions are times, because it has the records of several logs. */
export abstract class TimeSource {
  readonly #client: Pick<Client, 'around'>;
  #extent: Extent | undefined;

  /** The client asks for the time of a record that is known only by its key. */
  constructor(client: Pick<Client, 'around'>) {
    this.#client = client;
  }

  protected abstract pageFrom(from: TimePosition, request: PageRequest, options: PageOptions): Promise<Page>;

  protected abstract followFrom(
    start: FollowStart,
    filter: RowFilter,
    options: { signal: AbortSignal },
  ): AsyncIterable<ClusterFollowItem[]>;

  /** First and last times of the logs, as far as known. */
  protected abstract times(options: { signal?: AbortSignal }): Promise<(number | null)[]>;

  async page(request: PageRequest, options: PageOptions = {}): Promise<Page> {
    const { direction, from } = request;
    if (typeof from === 'string' || 'page' in from || 'timeMs' in from) return this.pageFrom(from, request, options);
    if ('fraction' in from) return this.pageFrom(await this.#timeOf(from.fraction, options), request, options);
    const [side, key] = 'at' in from ? (['at', from.at] as const) : (['next', from.next] as const);
    const resolved = await this.#resolve(key, options);
    // Misses nothing on the wanted side of the record.
    const timeMs = resolved.atMs + (direction === 'newer' ? -UNSURE_MS : UNSURE_MS + 1);
    const page = await this.pageFrom({ timeMs }, request, options);
    const anchor = { side, direction, key, ...resolved };
    return { ...page, records: page.records.filter((record) => isOnAnchorSide(record, anchor)) };
  }

  async *follow(
    { from, filter }: FollowRequest,
    options: { signal: AbortSignal },
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    if (from === 'end' || 'timeMs' in from) return yield* this.followFrom(from, filter, options);
    const { atMs } = await this.#resolve(from.next, options);
    const timeMs = Math.min(atMs, Math.max(atMs - FOLLOW_OVERLAP_MS, from.sinceMs ?? atMs));
    yield* this.followFrom({ timeMs }, filter, options);
  }

  async extent(options: { signal?: AbortSignal } = {}): Promise<Extent> {
    const known = (await this.times(options)).filter((timeMs) => timeMs !== null);
    const [firstMs, lastMs] = known.length === 0 ? [0, 0] : [Math.min(...known), Math.max(...known)];
    this.#extent = { kind: 'time', firstMs, lastMs };
    return this.#extent;
  }

  fractionAt(record: ShownRecord, extent: Extent): number | undefined {
    return fractionOfTime(record, extent);
  }

  async #timeOf(fraction: number, options: PageOptions): Promise<TimePosition> {
    if (fraction <= 0) return 'start';
    if (fraction >= 1) return 'end';
    const { firstMs, lastMs } = this.#extent ?? (await this.extent(options));
    const first = firstMs ?? 0;
    return { timeMs: Math.round(first + fraction * ((lastMs ?? 0) - first)) };
  }

  /**
   * Requests the time of a record from its node, unless it is known. A record without a timestamp has that of the one
   * before it.
   */
  async #resolve(key: RecordKey, options: { signal?: AbortSignal }): Promise<ResolvedRecord> {
    if (isShown(key) && key.atMs !== undefined) return { atMs: key.atMs, record: key };
    const { node, cursor } = key;
    const request = { at: { node, cursor }, nodes: [node], beforeMs: 1, afterMs: 1, limit: MAX_CANDIDATES };
    const { records } = await readSearch<ClusterItem>(this.#client.around(request, options));
    const record = records.find((candidate) => recordKey(candidate) === recordKey(key));
    const atMs = record?.atMs ?? records.find((candidate) => candidate.atMs !== undefined)?.atMs;
    if (atMs === undefined)
      throw new PortholeError('CURSOR_GONE', `node "${node}" returned no timestamp for this record`);
    return { atMs, record: record ?? (isShown(key) ? key : undefined) };
  }
}

/** The time of a record by the clock of the queried node, and the record itself if it was found. */
interface ResolvedRecord {
  atMs: number;
  record: ShownRecord | undefined;
}

interface PageAnchor extends ResolvedRecord {
  side: 'at' | 'next';
  direction: Direction;
  key: RecordKey;
}

/**
 * Whether a record belongs to a page that begins at another one. Within the same file the order is certain. Other
 * records are compared by time, which is not exact: uncertain ones are included, and callers recognise duplicates by
 * their keys. Only a page that begins with the record itself leaves them to the page on its other side.
 */
function isOnAnchorSide(candidate: ShownRecord, { side, direction, key, atMs, record }: PageAnchor): boolean {
  if (recordKey(candidate) === recordKey(key)) return side === 'at' && direction === 'newer';
  if (record && candidate.node === record.node && candidate.file === record.file)
    return direction === 'newer' ? candidate.offset >= record.offset : candidate.offset < record.offset;
  if (candidate.atMs === undefined || side === 'next' || direction === 'older') return true;
  return candidate.atMs >= atMs;
}

/** The filter of a request, with the query parsed. Throws QUERY_INVALID. */
export function toRecordFilter({ query = '', ...rest }: RowFilter): RecordFilter {
  const node = parseQuery(query);
  return { ...rest, ...(node && { query: node }) };
}
