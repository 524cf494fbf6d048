import { PortholeError } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs';
import type { LogSource, LogState, PrintableRecord } from '../sources/log-source.ts';
import type { Receipt } from './receipt.ts';

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
}

/** The source and what to search in it. */
export interface QueriedSource extends Pick<LogSource, 'selection' | 'maxRecords'> {
  state: Pick<LogState, 'searchLogs'>;
}

/** Yields batches of records, requesting pages until there are enough or no more. */
export async function* findRecords(
  { state, selection, maxRecords }: QueriedSource,
  query: Omit<SearchQuery, 'limit'>,
  { count, signal, receipt, sliceMs, isEnough = () => false }: FindOptions,
): AsyncGenerator<PrintableRecord[], void, undefined> {
  let remaining = count;
  let start = query.start;
  while (remaining > 0 && !isEnough()) {
    const page: SearchQuery = {
      ...query,
      ...selection,
      limit: Math.min(remaining, maxRecords),
      ...(start && { start }),
    };
    let cursor: string | null = null;
    for await (const items of state.searchLogs(page, { signal, ...(sliceMs !== undefined && { budgetMs: sliceMs }) })) {
      const records = items.filter((item) => item.type === 'record');
      remaining -= records.length;
      if (records.length > 0) yield records;
      const end = items.at(-1);
      if (end?.type !== 'end') continue;
      receipt.add(end);
      if (end.reason === 'cancelled') throw signal.aborted ? signal.reason : searchEndedEarly();
      cursor = end.reason === 'exhausted' ? null : end.cursor;
    }
    if (cursor === null) return;
    start = { cursor };
  }
}

function searchEndedEarly(): PortholeError {
  return new PortholeError('SHUTTING_DOWN', 'the node ended the search before it was done');
}
