import type { SearchItem, SearchQuery } from '../types.ts';

/** Records at the end of a file examined for a timestamp. */
const LAST_RECORDS = 100;

/** The time of the newest record of a file that has one. */
export async function readLastTime(
  search: (query: SearchQuery) => AsyncIterable<SearchItem[]>,
  file: string,
): Promise<number | null> {
  for await (const items of search({ file, order: 'newest', limit: LAST_RECORDS, before: 0, after: 0 })) {
    for (const item of items) if (item.type === 'record' && item.timeMs !== undefined) return item.timeMs;
  }
  return null;
}
