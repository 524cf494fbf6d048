import { toItems } from '@porthole/records';
import type { LogDir } from '../log-dir.ts';
import type { SearchOptions } from '../search/stop-reason.ts';
import type { FoundRecord, SearchEnd, SearchItem, SearchQuery } from '../types.ts';
import type { ComparableRecord } from './slow-logs.ts';

/** The records of a search as objects, and its end. */
export function searchItems(
  logs: Pick<LogDir, 'search'>,
  query: SearchQuery,
  options: SearchOptions = {},
): AsyncGenerator<SearchItem[], void, undefined> {
  return toItems(logs.search(query, options));
}

export interface SearchResult {
  records: FoundRecord[];
  end: SearchEnd;
}

type PartialQuery = Partial<SearchQuery>;

/** A whole response. Everything is requested unless the query says otherwise. */
export async function runSearch(logs: LogDir, query: PartialQuery, options: SearchOptions = {}): Promise<SearchResult> {
  const records: FoundRecord[] = [];
  let end: SearchEnd | undefined;
  for await (const batch of searchItems(logs, fillQuery(query), options)) {
    for (const item of batch) {
      if (end) throw new Error('an item follows the end');
      if (item.type === 'record') records.push(item);
      else end = item;
    }
  }
  if (!end) throw new Error('the response has no end');
  return { records, end };
}

export function fillQuery(query: PartialQuery): SearchQuery {
  return { order: 'oldest', limit: 1_000_000, before: 0, after: 0, ...query };
}

/** All pages of a response, each starting at the cursor of the one before. */
export async function searchPages(logs: LogDir, query: PartialQuery, sizes: readonly number[]): Promise<FoundRecord[]> {
  const records: FoundRecord[] = [];
  let page: PartialQuery = query;
  for (let turn = 0; ; turn++) {
    const { records: more, end } = await runSearch(logs, { ...page, limit: sizes[turn % sizes.length] ?? 1 });
    records.push(...more);
    if (end.cursor === null) return records;
    if (end.reason === 'exhausted') throw new Error('an exhausted response has a cursor');
    const { start: _start, ...rest } = query;
    page = { ...rest, start: { cursor: end.cursor } };
  }
}

export function withoutCursor({
  cursor: _cursor,
  before: _before,
  after: _after,
  ...rest
}: FoundRecord): ComparableRecord {
  return rest;
}
