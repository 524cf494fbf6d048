import {
  type ClusterFollowItem,
  type ClusterItem,
  type ClusterRecord,
  type Coverage,
  codeOf,
  coverageOf,
  joinCoverage,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import type { StartPoint } from '@porthole/logs/types';
import type { RecordsOptions, SearchRequest } from './client.ts';
import { ClientError } from './errors/client-error.ts';

export { loadGaps } from '@porthole/contract';

/* What pages in browsers do not use; it is loaded when it is. */

/** Records per page. Nodes that allow fewer (`search.max-records`) decide themselves. */
const PAGE_RECORDS = 1000;

/** One page. */
type SearchPage = (request: SearchRequest, options: SearchOptions) => AsyncIterable<ClusterItem[]>;

type OnEvent = RecordsOptions['onEvent'];

/** The records of all pages. The limit and the budget are those of all pages together. Returns what they lack together. */
export async function* readPages(
  search: SearchPage,
  { limit = Number.POSITIVE_INFINITY, ...request }: SearchRequest,
  { onEvent, budgetMs, ...options }: RecordsOptions,
): AsyncGenerator<ClusterRecord, Coverage, undefined> {
  const coverages: Coverage[] = [];
  let pageRecords: number | undefined = PAGE_RECORDS;
  let left = limit;
  let leftMs = budgetMs;
  for (let start = request.start; ; ) {
    const size: { limit?: number } = pageRecords === undefined ? {} : { limit: Math.min(left, pageRecords) };
    const page = search(
      { ...request, ...(start && { start }), ...size },
      { ...options, ...(leftMs !== undefined && { budgetMs: leftMs }) },
    );
    try {
      const { found, elapsedMs, cursor, coverage } = yield* readPage(page, left, onEvent);
      coverages.push(coverage);
      left -= found;
      if (leftMs !== undefined) leftMs -= elapsedMs;
      if (cursor === null || left <= 0 || (leftMs !== undefined && leftMs <= 0)) return joinCoverage(coverages);
      if (found === 0) checkProgress(start, cursor);
      start = { cursor };
    } catch (error) {
      if (!isPageTooLarge(error, size.limit)) throw error;
      pageRecords = undefined;
    }
  }
}

async function* readPage(batches: AsyncIterable<ClusterItem[]>, limit: number, onEvent: OnEvent) {
  let found = 0;
  for await (const items of batches) {
    for (const item of items) {
      if (item.type === 'end') {
        onEvent?.(item);
        return { found, elapsedMs: item.elapsedMs, cursor: item.cursor, coverage: coverageOf(item) };
      }
      if (++found > limit) break;
      yield item;
    }
    if (found > limit) break;
  }
  return { found, elapsedMs: 0, cursor: null, coverage: coverageOf({ reason: 'limit' }) };
}

/** The records of a follow. */
export async function* readFollow(
  batches: AsyncIterable<ClusterFollowItem[]>,
  onEvent: OnEvent,
): AsyncGenerator<ClusterRecord, void, undefined> {
  for await (const items of batches) {
    for (const item of items) {
      if (item.type === 'record') yield item;
      else onEvent?.(item);
    }
  }
}

/** A page that ends where it started would be requested forever. */
function checkProgress(start: StartPoint | undefined, cursor: string): void {
  if (start && 'cursor' in start && start.cursor === cursor)
    throw new PortholeError('DEADLINE_EXCEEDED', 'the search does not get on within the time budget of the node');
}

/** The node may allow fewer records per page. If something else is wrong, the next attempt fails in the same way. */
function isPageTooLarge(error: unknown, limit: number | undefined): boolean {
  const isRefused = error instanceof ClientError && codeOf(error) === 'PARAMETER_INVALID';
  return isRefused && limit !== undefined && Number.isInteger(limit) && limit > 0;
}
