import { type AroundRequest, type NodeState, PortholeError, type SearchOptions, searchItems } from '@porthole/contract';
import type { FoundRecord, SearchEnd, SearchQuery } from '@porthole/logs/types';
import { batchOf, EMPTY_BATCH, isBatch, type RecordBatch } from '@porthole/records';
import { withFloor } from '../../state/counts/counting.ts';

export interface AroundQuery extends Pick<AroundRequest, 'beforeMs' | 'afterMs' | 'limit'> {
  /** The id of the member. */
  id: string;
  floors?: AroundRequest['floors'] | undefined;
  /** By the clock of the member. */
  atMs: number;
}

/** The records of one member, oldest first. Those before the time are found newest first, so they are buffered and reversed. */
export async function* recordsAround(
  state: NodeState,
  { id, atMs, beforeMs, afterMs, limit, floors }: AroundQuery,
  options: SearchOptions,
): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
  const before: SearchQuery = {
    before: 0,
    after: 0,
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
    before: 0,
    after: 0,
    order: 'oldest',
    // Exclusive, but the last millisecond is included.
    ...withFloor({ fromMs: atMs, toMs: atMs + afterMs + 1 }, floors, id),
    limit: limit - before.limit,
  };
  for await (const item of state.search(after, options)) yield isBatch(item) ? item : bothEnds(first, item);
}

function bothEnds(first: SearchEnd | undefined, second: SearchEnd): SearchEnd {
  if (first === undefined) return second;
  return {
    ...second,
    reason: first.reason === 'exhausted' ? second.reason : first.reason,
    scannedBytes: first.scannedBytes + second.scannedBytes,
    skippedBytes: first.skippedBytes + second.skippedBytes,
  };
}
