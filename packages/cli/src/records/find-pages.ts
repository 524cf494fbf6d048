import { type ClusterItem, codeOf, PortholeError, type SearchOptions } from '@porthole/contract';
import type { SearchEnd, SearchQuery } from '@porthole/logs/types';
import { bytesOf, isBatch, joinBytes, originAt, type RecordBatch } from '@porthole/records';
import type { Backend, LogSource, PrintableRecord, PrintedSearch } from '../sources/log-source.ts';
import type { Receipt, ReportingResponse } from './receipt.ts';

/** A later page has so many times as many records, up to the default of `search.max-records`: each costs every member a request. */
const PAGE_GROWTH = 10;
const LARGEST_PAGE = 10_000;

/** Some of the records that a request found, and its end if it is complete. */
export interface Found<Batch> {
  /** `undefined` if there are none. */
  batch: Batch | undefined;
  /** Number of records in the batch. */
  count: number;
  end?: PageEnd | undefined;
}

type PageEnd = Pick<SearchEnd, 'reason' | 'cursor'> & ReportingResponse;

/** Requests one page. */
export type OpenPage<Batch> = (query: SearchQuery, options: SearchOptions) => AsyncIterable<Found<Batch>>;

export interface FindOptions {
  /** Maximum number of records. */
  count: number;
  signal: AbortSignal;
  /** Updated during the search. */
  receipt: Receipt;
  /** How long one request may scan before it reports how far it got. */
  sliceMs?: number | undefined;
  /** No further page is requested once this holds; the page under way is read to its closing record. */
  isEnough?: () => boolean;
  /** Called if the search stopped at `count` records, so that there may be more. */
  onMore(): void;
}

/** Yields batches of records, requesting pages until there are enough or no more. */
export async function* findPages<Batch>(
  open: OpenPage<Batch>,
  { source, query }: { source: LogSource; query: Omit<SearchQuery, 'limit'> },
  { count, signal, receipt, sliceMs, isEnough = () => false, onMore }: FindOptions,
): AsyncGenerator<Batch, void, undefined> {
  const { selection, maxRecords } = source;
  let remaining = count;
  let start = query.start;
  let size = maxRecords;
  let largest = Math.max(maxRecords, LARGEST_PAGE);
  while (remaining > 0 && !isEnough()) {
    const limit = Math.min(remaining, size);
    const page: SearchQuery = { ...query, ...selection, limit, ...(start && { start }) };
    let cursor: string | null = null;
    let hasBegun = false;
    try {
      for await (const found of open(page, { signal, ...(sliceMs !== undefined && { budgetMs: sliceMs }) })) {
        hasBegun = true;
        remaining -= found.count;
        if (found.batch !== undefined) yield found.batch;
        if (!found.end) continue;
        receipt.add(found.end, source);
        const { reason } = found.end;
        if (reason === 'cancelled') throw signal.aborted ? signal.reason : searchEndedEarly();
        cursor = reason === 'exhausted' ? null : found.end.cursor;
      }
    } catch (error) {
      // The node may allow fewer. If something else is wrong, the smaller page fails in the same way.
      if (hasBegun || limit <= maxRecords || codeOf(error) !== 'PARAMETER_INVALID') throw error;
      size = largest = maxRecords;
      continue;
    }
    if (cursor === null) return;
    start = { cursor };
    size = Math.min(largest, size * PAGE_GROWTH);
  }
  if (remaining <= 0) onMore();
}

function searchEndedEarly(): PortholeError {
  return new PortholeError('SHUTTING_DOWN', 'the node ended the search before it was done');
}

/** Decoded records, and their times, by which they are merged. */
export interface RecordList {
  records: readonly PrintableRecord[];
  times: readonly number[];
}

/** Pages of decoded records. */
export function recordPages({ state }: Pick<Backend, 'state'>): OpenPage<RecordList> {
  return (query, options) => recordLists(state.search(query, options));
}

/** The records of a search and their times, and its end. */
export async function* recordLists(found: AsyncIterable<ClusterItem[]>): AsyncGenerator<Found<RecordList>> {
  for await (const items of found) {
    const records = items.filter((item) => item.type === 'record');
    const times = records.map(({ timeMs = Number.NaN, atMs = timeMs }) => atMs);
    const last = items.at(-1);
    const batch = records.length > 0 ? { records, times } : undefined;
    yield { batch, count: records.length, end: last?.type === 'end' ? last : undefined };
  }
}

type PrintedSource = Pick<LogSource, 'searchPrinted' | 'place'>;

/** Pages of JSON lines, as the search engine formats them; only of local files. `place`: see `LogSource`. */
export function jsonPages({ searchPrinted, place }: PrintedSource): OpenPage<RecordBatch> | undefined {
  if (!searchPrinted) return undefined;
  return async function* open(query, options) {
    for await (const item of searchPrinted(query, { ...options, reusesMemory: true }))
      yield isBatch(item) ? found(place ? withTargets(item, place) : item) : { batch: undefined, count: 0, end: item };
  };
}

/** Pages of the text of records, as in their files; only of local files. For one source: it remembers how a page ended. */
export function textPages({ searchPrinted }: PrintedSource): OpenPage<RecordBatch> | undefined {
  if (!searchPrinted) return undefined;
  let isLineOpen = false;
  return async function* open(query, options) {
    let lacksNewline = isLineOpen;
    const how: PrintedSearch = { ...options, reusesMemory: true, asText: true };
    for await (const item of searchPrinted(query, how)) {
      if (!isBatch(item)) yield { batch: undefined, count: 0, end: item };
      else if (item.ends.length > 0) {
        yield found(lacksNewline ? afterNewline(item) : item);
        lacksNewline = false;
        isLineOpen = endsWithoutNewline(item, query);
      }
    }
  };
}

function found(batch: RecordBatch) {
  const count = batch.ends.length;
  return { batch: count > 0 ? batch : undefined, count };
}

/** Adds the name of the file with its place to every line, as the last member. */
function withTargets(batch: RecordBatch, place: string): RecordBatch {
  let end = 0;
  const parts = Array.from(batch.ends, (_, index) => {
    const target = `,"target":${JSON.stringify(`${place}${originAt(batch, index).file}`)}}\n`;
    return Buffer.concat([bytesOf(batch, index, index + 1).subarray(0, -2), Buffer.from(target)]);
  });
  return { ...batch, bytes: joinBytes(parts), ends: Uint32Array.from(parts, ({ length }) => (end += length)) };
}

/** Longer records are split: then the next page continues the line. */
const MIN_PART_BYTES = 128 * 1024;

/** Whether what follows must start on a new line. Within a page the search engine takes care of that. */
function endsWithoutNewline({ bytes, ends }: RecordBatch, { order }: SearchQuery): boolean {
  const lastBytes = bytes.length - (ends[ends.length - 2] ?? 0);
  const isContinued = order === 'oldest' && lastBytes >= MIN_PART_BYTES;
  return bytes.at(-1) !== NEWLINE && !isContinued;
}

const NEWLINE = 10;

function afterNewline(batch: RecordBatch): RecordBatch {
  const bytes = Buffer.concat([Buffer.of(NEWLINE), batch.bytes]);
  return { ...batch, bytes, ends: batch.ends.map((end) => end + 1) };
}
