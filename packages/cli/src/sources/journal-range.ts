import type { FollowQuery, RecordFilter, SearchQuery } from '@porthole/logs';
import type { JournalRange } from '@porthole/server/journal';

/** Entries that are read if the query does not say which: about as many as are kept. */
const MAX_ENTRIES = 262_144;

/** Entries are written up to this much out of order; the query itself is exact. */
const SLACK_MS = 60_000;

/** Of journald. Those of the copy look different. */
const CURSOR = /^s=[0-9a-f]+;[\w=;-]{1,480}$/;

/** What has to be read for a query. */
export interface ReadRange {
  range: JournalRange;
  /** The query needs no more than that: nothing is missing where it ends. */
  isPart: boolean;
}

export function isJournalCursor(cursor: string): boolean {
  return CURSOR.test(cursor);
}

/** For a search, histogram or digest. */
export function queryRange(query: RecordFilter & Partial<SearchQuery>): ReadRange {
  const { fromMs, toMs, start, order, limit, before = 0, after = 0 } = query;
  if (start && 'cursor' in start && order === 'oldest' && isJournalCursor(start.cursor))
    return { range: { cursor: start.cursor }, isPart: true };
  if (fromMs !== undefined || toMs !== undefined) return { range: timeRange(fromMs, toMs), isPart: true };
  const isTail = order === 'newest' && start === undefined && limit !== undefined && !isFiltered(query);
  return newest(isTail ? limit + before + after : undefined);
}

export function followRange(query: FollowQuery): ReadRange {
  const { start } = query;
  if (start === 'end') return newest(1);
  if ('cursor' in start && isJournalCursor(start.cursor)) return { range: { cursor: start.cursor }, isPart: true };
  if ('timeMs' in start && start.timeMs > 0) return { range: timeRange(start.timeMs, undefined), isPart: true };
  // At least one: what follows it is new.
  return newest('back' in start && !isFiltered(query) ? Math.max(1, start.back) : undefined);
}

function newest(count: number | undefined): ReadRange {
  const isPart = count !== undefined && count < MAX_ENTRIES;
  return { range: { lines: isPart ? count : MAX_ENTRIES }, isPart };
}

function timeRange(fromMs: number | undefined, toMs: number | undefined): JournalRange {
  return {
    sinceMs: fromMs === undefined ? undefined : fromMs - SLACK_MS,
    untilMs: toMs === undefined ? undefined : toMs + SLACK_MS,
  };
}

function isFiltered({ minLevel, terms, excluded, regex, source, component, query }: RecordFilter): boolean {
  return [minLevel, regex, source, component, query, terms?.[0], excluded?.[0]].some((value) => value !== undefined);
}
