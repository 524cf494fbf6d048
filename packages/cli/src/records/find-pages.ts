import { codeOf, PortholeError, type SearchOptions } from '@porthole/contract';
import type { SearchEnd, SearchQuery } from '@porthole/logs/types';
import type { LogSource } from '../sources/log-source.ts';
import type { Answer, Receipt } from './receipt.ts';

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

type PageEnd = Pick<SearchEnd, 'reason' | 'cursor'> & Answer;

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
  const { selection, maxRecords, place } = source;
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
        receipt.add(found.end, place);
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
