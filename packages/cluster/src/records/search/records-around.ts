import {
  type AroundRequest,
  codeOf,
  familySource,
  type MemberSelection,
  type NodeState,
  PortholeError,
  type SearchOptions,
  searchItems,
  withoutSelection,
} from '@porthole/contract';
import { decodeCursor, groupFamilies } from '@porthole/logs';
import type { FoundRecord, SearchEnd, SearchQuery } from '@porthole/logs/types';
import { batchOf, EMPTY_BATCH, isBatch, type RecordBatch, recordsOf } from '@porthole/records';
import { withFloor } from '../../state/counts/counting.ts';
import { joinEnds, type LaneItem } from '../merge/member-pages.ts';

/* What one node logged around a time. */

/** How far to look back for a timestamp if the record has none. */
const MAX_LOOKBACK_RECORDS = 100;

const ALL: Pick<SearchQuery, 'before' | 'after'> = { before: 0, after: 0 };

/** Which logs and records, wherever and whenever. */
type Content = Omit<AroundRequest, keyof MemberSelection | 'at' | 'beforeMs' | 'afterMs' | 'limit'>;

export function contentOf(request: AroundRequest): Content {
  const { at: _at, beforeMs: _beforeMs, afterMs: _afterMs, limit: _limit, ...content } = withoutSelection(request);
  return content;
}

export interface AroundQuery extends Pick<AroundRequest, 'beforeMs' | 'afterMs' | 'limit'> {
  /** The id of the member. */
  id: string;
  filter: Content;
  floors?: AroundRequest['floors'] | undefined;
  /** By the clock of the member. */
  atMs: number;
}

/** The records of one member, oldest first. Those before the time are found newest first, so they are buffered and reversed. */
export async function* recordsAround(
  state: Pick<NodeState, 'search'>,
  { id, filter, atMs, beforeMs, afterMs, limit, floors }: AroundQuery,
  options: SearchOptions,
): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
  const before: SearchQuery = {
    ...ALL,
    ...filter,
    order: 'newest',
    ...withFloor({ fromMs: atMs - beforeMs, toMs: atMs }, floors, id),
    limit: Math.floor(limit / 2),
  };
  const earlier: FoundRecord[] = [];
  let first: SearchEnd | undefined;
  // A range must not be empty.
  if (before.limit > 0 && beforeMs > 0) {
    for await (const items of searchItems(state, before, options)) {
      yield EMPTY_BATCH;
      for (const item of items) {
        if (item.type === 'end') first = item;
        else earlier.push(item);
      }
      if (earlier.length > before.limit)
        throw new PortholeError('BAD_ANSWER', 'the response has more records than requested');
    }
  }
  yield batchOf(earlier.reverse());
  const after: SearchQuery = {
    ...ALL,
    ...filter,
    order: 'oldest',
    // Exclusive, but the last millisecond is included.
    ...withFloor({ fromMs: atMs, toMs: atMs + afterMs + 1 }, floors, id),
    limit: limit - before.limit,
  };
  for await (const item of state.search(after, options)) {
    if (isBatch(item)) yield item;
    else if (first === undefined) yield { ...item, cursor: null };
    else {
      const reason = first.reason === 'exhausted' ? item.reason : first.reason;
      yield { ...joinEnds(first, item), reason, cursor: null };
    }
  }
}

/** The time of a record by the clock of its node; of one without a time, that of the record before it. `find` asks its node. */
export async function recordTime(
  { node, cursor }: { node: string; cursor: string },
  find: (query: SearchQuery) => Promise<FoundRecord[]>,
): Promise<number> {
  // Only its family: other logs have no position in this cursor and would start at their beginning.
  const log = cursorLog(cursor);
  const [record] = await find({ ...ALL, ...log, order: 'oldest', limit: 1, start: { record: cursor } });
  if (record === undefined) throw new PortholeError('CURSOR_GONE', `the record no longer exists on "${node}"`);
  const earlier = isTimed(record)
    ? []
    : await find({ ...ALL, ...log, order: 'newest', limit: MAX_LOOKBACK_RECORDS, start: { cursor } });
  const timed = [record, ...earlier.filter(({ file }) => file === record.file)].find(isTimed);
  if (timed === undefined)
    throw new PortholeError('PARAMETER_INVALID', 'neither the record nor an earlier one has a timestamp');
  return timed.timeMs;
}

/** The log of the record a cursor names; the member rejects invalid cursors. */
function cursorLog(cursor: string): Pick<SearchQuery, 'src'> {
  try {
    const names = decodeCursor(cursor).map(({ file }) => file);
    const [family] = groupFamilies(names.slice(-1));
    return family ? { src: [familySource(family.name)] } : {};
  } catch (error) {
    if (codeOf(error) !== 'CURSOR_INVALID') throw error;
    return {};
  }
}

function isTimed(record: FoundRecord): record is FoundRecord & { timeMs: number } {
  return Number.isFinite(record.timeMs);
}

/** The first records of a search, at least as many as the limit if there are. */
export async function collectRecords(items: AsyncIterable<LaneItem>, limit: number): Promise<FoundRecord[]> {
  const found: FoundRecord[] = [];
  for await (const item of items) {
    if (isBatch(item)) found.push(...recordsOf<FoundRecord>(item));
    if (found.length >= limit) break;
  }
  return found;
}
