import { PortholeError, type SearchOptions } from '@porthole/contract';
import type { SearchEnd, SearchQuery } from '@porthole/logs/types';
import type { LogSource } from '../sources/log-source.ts';
import type { Coverage, Receipt } from './receipt.ts';

/** Some of the records that a request found, and its end if it is complete. */
export interface Found<Batch> {
  /** `undefined` if there are none. */
  batch: Batch | undefined;
  /** Number of records in the batch. */
  count: number;
  end?: PageEnd | undefined;
}

type PageEnd = Pick<SearchEnd, 'reason' | 'cursor'> & Coverage;

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
  while (remaining > 0 && !isEnough()) {
    const limit = Math.min(remaining, maxRecords);
    const page: SearchQuery = { ...query, ...selection, limit, ...(start && { start }) };
    let cursor: string | null = null;
    for await (const found of open(page, { signal, ...(sliceMs !== undefined && { budgetMs: sliceMs }) })) {
      remaining -= found.count;
      if (found.batch !== undefined) yield found.batch;
      if (!found.end) continue;
      receipt.add(found.end, place);
      const { reason } = found.end;
      if (reason === 'cancelled') throw signal.aborted ? signal.reason : searchEndedEarly();
      cursor = reason === 'exhausted' ? null : found.end.cursor;
    }
    if (cursor === null) return;
    start = { cursor };
  }
  if (remaining <= 0) onMore();
}

function searchEndedEarly(): PortholeError {
  return new PortholeError('SHUTTING_DOWN', 'the node ended the search before it was done');
}
