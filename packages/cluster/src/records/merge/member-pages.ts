import type { SearchEnd, SearchQuery } from '@porthole/logs/types';
import { isBatch, type RecordBatch } from '@porthole/records';
import type { Peer } from '../../fan-out/peers.ts';
import { isTime } from '../to-cluster-record.ts';

/** Requests of at least so many records are long. */
const LONG = 1000;

/** Times what a member would send if all sent the same: most members need no second page. */
const SHARES = { short: 2, long: 1.5 };

/** Records of the first page of a member, at least. */
const MIN_PAGE = 8;

/** A later page is this many times as long: a member with most of the records needs few requests. */
const GROWTH = 4;

/**
 * Pages save something only if the first is at most so much of what is requested. Of a long request even a little is worth
 * it: what a member renders beyond it is thrown away.
 */
const MAX_SHARE = { short: 0.25, long: 0.7 };

/** The end of a page after which there are more. */
export class PageEnd {
  readonly type = 'page';
  readonly end: SearchEnd;

  constructor(end: SearchEnd) {
    this.end = end;
  }
}

export type LaneItem = RecordBatch | SearchEnd | PageEnd;

/**
 * Records to request from each of these members first; `undefined`: all of them. Together they send about as much as is
 * requested, instead of as much each.
 */
export function firstPage(
  { limit, before = 0, after = 0 }: Pick<SearchQuery, 'limit'> & Partial<Pick<SearchQuery, 'before' | 'after'>>,
  members: number,
): number | undefined {
  // Records of a page share their context.
  if (before > 0 || after > 0 || !Number.isFinite(limit)) return undefined;
  const length = limit < LONG ? 'short' : 'long';
  const records = Math.max(MIN_PAGE, Math.ceil((SHARES[length] * limit) / Math.max(1, members)));
  return records <= limit * MAX_SHARE[length] ? records : undefined;
}

export interface PagesOptions {
  query: SearchQuery;
  peer: Pick<Peer, 'isPorthole'>;
  signal: AbortSignal;
  /** Records in the first page. */
  pageRecords: number;
  /** For the scans of all pages. */
  budgetMs: number;
}

type SearchPage = (query: SearchQuery, options: { budgetMs: number }) => AsyncIterable<RecordBatch | SearchEnd>;

/** A search of a member, in pages of which the next is requested when the one before is used up. */
export async function* searchInPages(
  search: SearchPage,
  { query, peer, signal, pageRecords, budgetMs }: PagesOptions,
): AsyncGenerator<LaneItem, void, undefined> {
  // Each page of a contract-only member would be the end of its files again.
  const isPaged = (await peer.isPorthole?.({ signal })) ?? true;
  const times = query.start === undefined ? new PageTimes(query.order) : undefined;
  let left = query.limit;
  let leftMs = budgetMs;
  let before: SearchEnd | undefined;
  for (let [page, size] = [query, isPaged ? pageRecords : query.limit]; ; size *= GROWTH) {
    const leftBefore = left;
    let last: SearchEnd | undefined;
    for await (const item of search({ ...page, limit: Math.min(size, left) }, { budgetMs: leftMs })) {
      if (!isBatch(item)) {
        last = item;
        // Now, so that its connection is free while the page is used.
        break;
      }
      left -= item.ends.length;
      times?.add(item);
      yield item;
    }
    // Without an end, the reader says what is wrong.
    if (last === undefined) return;
    leftMs -= Math.max(0, last.elapsedMs || 0);
    const joined = before ? joinEnds(before, last) : last;
    const end = before && times ? times.widen(joined) : joined;
    const hasMore = last.reason === 'limit' && last.cursor !== null && left > 0 && left < leftBefore;
    if (!hasMore || leftMs <= 0) {
      yield hasMore ? { ...end, reason: 'time budget' } : end;
      return;
    }
    yield new PageEnd(end);
    before = end;
    page = { ...query, start: { cursor: last.cursor ?? '' } };
  }
}

/**
 * The times of the records since the beginning. Between two records of the same millisecond, no page covers it; all of them
 * together do.
 */
class PageTimes {
  readonly #order: SearchQuery['order'];
  #fromMs = Infinity;
  #toMs = -Infinity;

  constructor(order: SearchQuery['order']) {
    this.#order = order;
  }

  add({ times }: RecordBatch): void {
    for (const timeMs of times) {
      if (timeMs < this.#fromMs) this.#fromMs = timeMs;
      if (timeMs > this.#toMs) this.#toMs = timeMs;
    }
  }

  /** Nothing comes before the first page, and nothing after the last one if it has all that is left. */
  widen(end: SearchEnd): SearchEnd {
    if (this.#fromMs > this.#toMs) return end;
    const isExhausted = end.reason === 'exhausted';
    const { coveredFromMs, coveredToMs } = end;
    if (coveredFromMs === null || coveredToMs === null)
      return isExhausted ? { ...end, coveredFromMs: this.#fromMs, coveredToMs: this.#toMs } : end;
    const isFrom = isExhausted || this.#order === 'oldest';
    const isTo = isExhausted || this.#order === 'newest';
    return {
      ...end,
      coveredFromMs: isFrom ? Math.min(coveredFromMs, this.#fromMs) : coveredFromMs,
      coveredToMs: isTo ? Math.max(coveredToMs, this.#toMs) : coveredToMs,
    };
  }
}

/** Ends of two searches, the second of which continued the first. */
export function joinEnds(first: SearchEnd, second: SearchEnd): SearchEnd {
  const covered = [first, second].filter((end) => isTime(end.coveredFromMs) && isTime(end.coveredToMs));
  const times = covered.flatMap((end) => [end.coveredFromMs ?? 0, end.coveredToMs ?? 0]);
  const duplicates = union(first.duplicates, second.duplicates);
  return {
    ...second,
    records: first.records + second.records,
    scannedBytes: first.scannedBytes + second.scannedBytes,
    skippedBytes: first.skippedBytes + second.skippedBytes,
    coveredFromMs: times.length > 0 ? Math.min(...times) : null,
    coveredToMs: times.length > 0 ? Math.max(...times) : null,
    problems: union(first.problems, second.problems),
    ...(duplicates.length > 0 && { duplicates }),
    elapsedMs: first.elapsedMs + second.elapsedMs,
  };
}

/** What is said of each file once. The lists come from a member. */
function union<T>(first: readonly T[] | undefined, second: readonly T[] | undefined): T[] {
  const all = [...(Array.isArray(first) ? first : []), ...(Array.isArray(second) ? second : [])];
  return [...new Map(all.map((each: T) => [JSON.stringify(each), each])).values()];
}
