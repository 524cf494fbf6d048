import type { FoundRecord, SearchEnd, SearchItem, SearchQuery } from '@porthole/logs/types';
import { joinEnds } from '../merge/member-pages.ts';
import { type LineRecord, LineRows } from '../merge/record-lines.ts';
import { isTime } from '../to-cluster-record.ts';
import { type Reach, toKey } from './reach.ts';

type Items = (SearchItem | LineRows)[];

export interface DropOptions {
  /** Starts at the margin before the reach. */
  query: SearchQuery;
  reach: Reach;
  /** Of the clock of the member. */
  offsetMs: number;
  /** Called for every record that an earlier page has emitted. */
  onDrop(record: FoundRecord | LineRecord): void;
}

/**
 * Searches a member from a time and leaves out what earlier pages have emitted: the records up to the reach, in the order of
 * the search. A record that is out of order belongs where its predecessor does, as in the merge.
 */
export async function* dropReached(
  search: (query: SearchQuery) => AsyncIterable<Items>,
  { query, reach, offsetMs, onDrop }: DropOptions,
): AsyncGenerator<Items, void, undefined> {
  const { order, limit } = query;
  const filter = new ReachFilter(reach, order, offsetMs);
  let passed = 0;
  let first: SearchEnd | undefined;
  for (let next = query; ; ) {
    const droppedBefore = filter.dropped;
    let end: SearchEnd | undefined;
    for await (const items of search(next)) {
      const left: Items = [];
      for (const item of items) {
        if (item instanceof LineRows) {
          const kept = item.records().filter((record) => {
            const drops = filter.drops(record);
            if (drops) onDrop(record);
            return !drops;
          });
          // Only the first ones are left out.
          if (kept.length > 0) left.push(item.slice(item.end - kept.length, item.end));
          passed += kept.length;
        } else if (item?.type === 'end') end = item;
        else if (item?.type === 'record' && filter.drops(item)) onDrop(item);
        else {
          left.push(item);
          passed++;
        }
      }
      yield left;
    }
    if (end === undefined) return;
    const whole = first ? joinEnds(first, end) : end;
    const isShort = end.cursor !== null && end.reason === 'limit' && passed < limit;
    if (!isShort || filter.dropped === droppedBefore) {
      yield [filter.dropped > 0 ? withoutDropped(whole, { reach, offsetMs, order }) : whole];
      return;
    }
    first = whole;
    next = { ...query, limit: limit - passed, start: { cursor: end.cursor ?? '' } };
  }
}

class ReachFilter {
  dropped = 0;
  readonly #offsetMs: number;
  readonly #order: SearchQuery['order'];
  readonly #lastKey: number;
  /** Records of the last time that remain to be dropped. */
  #left: number;
  #key = -Infinity;
  #isPast = false;

  constructor({ timeMs, count }: Reach, order: SearchQuery['order'], offsetMs: number) {
    this.#lastKey = toKey(timeMs, order);
    this.#left = count;
    this.#order = order;
    this.#offsetMs = offsetMs;
  }

  drops({ timeMs }: Pick<FoundRecord | LineRecord, 'timeMs'>): boolean {
    if (this.#isPast) return false;
    if (isTime(timeMs)) this.#key = Math.max(this.#key, toKey(timeMs - this.#offsetMs, this.#order));
    const isReached = this.#key < this.#lastKey || (this.#key === this.#lastKey && this.#left-- > 0);
    if (isReached) this.dropped++;
    else this.#isPast = true;
    return isReached;
  }
}

/** The response has nothing of the times that were dropped. */
function withoutDropped(
  end: SearchEnd,
  { reach: { timeMs }, offsetMs, order }: Pick<DropOptions, 'reach' | 'offsetMs'> & Pick<SearchQuery, 'order'>,
): SearchEnd {
  const { coveredFromMs, coveredToMs } = end;
  if (timeMs === null || !isTime(coveredFromMs) || !isTime(coveredToMs)) return end;
  const atMs = timeMs + offsetMs;
  const from = order === 'newest' ? coveredFromMs : Math.max(coveredFromMs, atMs + 1);
  const to = order === 'newest' ? Math.min(coveredToMs, atMs - 1) : coveredToMs;
  return {
    ...end,
    ...(from <= to ? { coveredFromMs: from, coveredToMs: to } : { coveredFromMs: null, coveredToMs: null }),
  };
}
