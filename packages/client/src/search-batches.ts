import type { FoundRecord, SearchEnd } from '@porthole/logs/types';
import { batchOf, EMPTY_BATCH, type RecordBatch } from '@porthole/records';
import { LineKernel } from '@porthole/records/kernel';
import type { Exchange } from './exchange.ts';
import { readChunks, type SearchBounds, takeItems } from './search-stream.ts';

/**
 * The records of a response in batches, an empty one first, and the end, bounded and checked like `searchItems`. Records as our
 * nodes write them are passed on as they are, others are decoded and written again.
 */
export async function* searchBatches(
  exchange: Exchange,
  bounds: SearchBounds,
): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
  const kernel = LineKernel.shared;
  const chunks = readChunks<(RecordBatch | SearchEnd)[]>(exchange, bounds, {
    nothing: [EMPTY_BATCH],
    take: (lines, state) => {
      const value: (RecordBatch | SearchEnd)[] = [];
      let [at, count] = [0, 0];
      while (at < lines.length && count < state.left) {
        const batch = kernel.scan(lines, at, state.left - count);
        if (batch === undefined) break;
        value.push(batch);
        at += batch.bytes.length;
        count += batch.ends.length;
      }
      if (at === lines.length) return { value, records: count, isEnd: false, isTooMuch: false };
      // What follows a line that is not recognized is decoded, too: such lines come in rows.
      const { items, ...rest } = takeItems(exchange, lines.subarray(at), { ...state, left: state.left - count });
      const end = items.at(-1);
      const records = items.filter((item) => item.type === 'record');
      if (records.length > 0) value.push(batchOf(records.map(inOrder)));
      if (end?.type === 'end') value.push(end);
      return { ...rest, value, records: count + rest.records };
    },
  });
  for await (const items of chunks) yield* items;
}

/**
 * The fields before those that hold data of logs, in the order of our nodes: the first cursor in the line is that of the
 * record. Without those that only a node may add that merges records.
 */
function inOrder(record: FoundRecord): FoundRecord {
  const {
    type,
    file,
    offset,
    bytes,
    cursor,
    node: _node,
    atMs: _atMs,
    isUnsure: _isUnsure,
    ...rest
  } = record as FoundRecord & Record<'node' | 'atMs' | 'isUnsure', unknown>;
  return { type, file, offset, bytes, cursor, ...rest };
}
