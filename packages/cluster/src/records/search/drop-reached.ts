import type { FoundRecord, SearchEnd, SearchItem, SearchQuery } from '@porthole/logs/types';
import { type SteppedClock, toMemberEdge, toOwnTime } from '../../fan-out/clock-steps.ts';
import { joinEnds } from '../merge/member-pages.ts';
import { type LineRecord, LineRows } from '../merge/record-lines.ts';
import { isTime } from '../to-cluster-record.ts';
import { type Reach, toKey } from './reach.ts';

type Items = (SearchItem | LineRows)[];

export interface DropOptions {
  /** Starts before what was emitted, by a margin if only its time is known. */
  query: SearchQuery;
  /** How far its records were emitted, by time. */
  reach: Reach | undefined;
  /** Of the member. */
  clock: SteppedClock;
  /** Whether its snapshot has emitted it. */
  isGiven(record: FoundRecord | LineRecord): boolean;
  /** Called for every record up to the reach. */
  onDrop(record: FoundRecord | LineRecord): void;
}

/**
 * Searches a member and leaves out what earlier pages have emitted: the records up to the reach, in the order of the search,
 * and those of its snapshot. A record that is out of order belongs where its predecessor does, as in the merge.
 */
export async function* dropEmitted(
  search: (query: SearchQuery) => AsyncIterable<Items>,
  { query, reach, clock, isGiven, onDrop }: DropOptions,
): AsyncGenerator<Items, void, undefined> {
  const { order, limit } = query;
  const filter = reach && new ReachFilter(reach, order, clock);
  let dropped = 0;
  const drops = (record: FoundRecord | LineRecord): boolean => {
    const isReached = filter?.drops(record) ?? false;
    if (isReached) onDrop(record);
    if (!isReached && !isGiven(record)) return false;
    dropped++;
    return true;
  };
  let passed = 0;
  let first: SearchEnd | undefined;
  for (let next = query; ; ) {
    const droppedBefore = dropped;
    let end: SearchEnd | undefined;
    for await (const items of search(next)) {
      const left: Items = [];
      for (const item of items) {
        if (item instanceof LineRows) {
          for (const rows of rowsLeft(item, drops)) {
            left.push(rows);
            passed += rows.count;
          }
        } else if (item?.type === 'end') end = item;
        else if (item?.type !== 'record' || !drops(item)) {
          left.push(item);
          passed++;
        }
      }
      yield left;
    }
    if (end === undefined) return;
    const whole = first ? joinEnds(first, end) : end;
    const isShort = end.cursor !== null && end.reason === 'limit' && passed < limit;
    if (!isShort || dropped === droppedBefore) {
      yield [reach && filter?.hasDropped ? withoutReached(whole, { reach, clock, order }) : whole];
      return;
    }
    first = whole;
    next = { ...query, limit: limit - passed, start: { cursor: end.cursor ?? '' } };
  }
}

/** Lines in a row, without those in between that are left out. */
function rowsLeft(rows: LineRows, drops: (record: LineRecord) => boolean): LineRows[] {
  const left: LineRows[] = [];
  let { first } = rows;
  for (const [index, record] of rows.records().entries()) {
    if (!drops(record)) continue;
    const at = rows.first + index;
    if (at > first) left.push(rows.slice(first, at));
    first = at + 1;
  }
  if (first < rows.end) left.push(rows.slice(first, rows.end));
  return left;
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

  drops({ timeMs }: Pick<FoundRecord | LineRecord, 'timeMs'>): boolean {
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
