import type { SearchEnd, SearchQuery } from '@porthole/logs/types';
import { filterBatch, isBatch, type RecordBatch } from '@porthole/records';
import { type SteppedClock, type TimeRange, toMemberEdge, toOwnTime } from '../../fan-out/clock-steps.ts';
import { joinEnds } from '../merge/member-pages.ts';
import { isTime } from '../to-cluster-record.ts';
import { type Reach, toKey } from './reach.ts';

export interface DropOptions {
  /** Starts before what was emitted, by a margin if only its time is known. */
  query: SearchQuery;
  /** How far its records were emitted, by time. */
  reach: Reach;
  /** The clock of the member. */
  clock: SteppedClock;
  /** Called for every record up to the reach. */
  onDrop(batch: RecordBatch, index: number): void;
}

/**
 * Searches a member and leaves out what earlier pages have emitted: the records up to the reach, in the order of the search. A record that is out of order belongs where its predecessor does, as in the merge.
 */
export async function* dropEmitted(
  search: (query: SearchQuery) => AsyncIterable<RecordBatch | SearchEnd>,
  { query, reach, clock, onDrop }: DropOptions,
): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
  const { order, limit } = query;
  const filter = new ReachFilter(reach, order, clock);
  const isKept = (batch: RecordBatch, index: number): boolean => {
    if (!filter.drops({ timeMs: batch.times[index] })) return true;
    onDrop(batch, index);
    return false;
  };
  let passed = 0;
  let first: SearchEnd | undefined;
  for (let next = query; ; ) {
    let dropped = 0;
    let end: SearchEnd | undefined;
    for await (const item of search(next)) {
      if (!isBatch(item)) {
        end = item;
        continue;
      }
      const left = filterBatch(item, (index) => isKept(item, index));
      dropped += item.ends.length - left.ends.length;
      passed += left.ends.length;
      yield left;
    }
    if (end === undefined) return;
    const whole = first ? joinEnds(first, end) : end;
    const isShort = end.cursor !== null && end.reason === 'limit' && passed < limit;
    if (!isShort || dropped === 0) {
      yield filter.hasDropped ? withoutReached(whole, { reach, clock, order }) : whole;
      return;
    }
    first = whole;
    next = { ...query, limit: limit - passed, start: { cursor: end.cursor ?? '' } };
  }
}

/** Recognizes the records up to a reach. They come in the order of the search. */
export class ReachFilter {
  hasDropped = false;
  readonly #clock: SteppedClock;
  readonly #order: SearchQuery['order'];
  readonly #lastKey: number;
  /** Records of the last time that remain to be dropped. */
  #left: number;
  #key = -Infinity;
  #isPast = false;

  constructor({ timeMs, count }: Reach, order: SearchQuery['order'], clock: SteppedClock) {
    this.#lastKey = toKey(timeMs, order);
    this.#left = count;
    this.#order = order;
    this.#clock = clock;
  }

  drops({ timeMs }: { timeMs?: number | undefined }): boolean {
    if (this.#isPast) return false;
    if (isTime(timeMs)) this.#key = Math.max(this.#key, toKey(toOwnTime(this.#clock, timeMs), this.#order));
    const isReached = this.#key < this.#lastKey || (this.#key === this.#lastKey && this.#left-- > 0);
    if (isReached) this.hasDropped = true;
    else this.#isPast = true;
    return isReached;
  }
}

/** The response has nothing of the times that were dropped. */
function withoutReached(
  end: SearchEnd,
  { reach: { timeMs }, clock, order }: { reach: Reach; clock: SteppedClock } & Pick<SearchQuery, 'order'>,
): SearchEnd {
  const { coveredFromMs, coveredToMs } = end;
  if (timeMs === null || !isTime(coveredFromMs) || !isTime(coveredToMs)) return end;
  const atMs = toMemberEdge(clock, timeMs, order === 'newest' ? 'from' : 'to');
  const from = order === 'newest' ? coveredFromMs : Math.max(coveredFromMs, atMs + 1);
  const to = order === 'newest' ? Math.min(coveredToMs, atMs - 1) : coveredToMs;
  return {
    ...end,
    ...(from <= to ? { coveredFromMs: from, coveredToMs: to } : { coveredFromMs: null, coveredToMs: null }),
  };
}

/**
 * Leaves out records outside of the range by the clock of this node. A member whose clock was set is asked for more than the
 * range: the same times of its clock may be before and after the step.
 */
export async function* dropOutside<T extends { type: string }>(
  items: AsyncIterable<RecordBatch | T>,
  clock: SteppedClock,
  { fromMs = -Infinity, toMs = Infinity }: TimeRange,
): AsyncGenerator<RecordBatch | T, void, undefined> {
  if (!clock.steps?.length) return yield* items;
  const isInside = (timeMs: number | undefined) => {
    if (!isTime(timeMs)) return true;
    const atMs = toOwnTime(clock, timeMs);
    return atMs >= fromMs && atMs < toMs;
  };
  for await (const item of items)
    yield isBatch(item) ? filterBatch(item, (index) => isInside(item.times[index])) : item;
}
