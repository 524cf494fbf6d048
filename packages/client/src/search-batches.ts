import type { FoundRecord, SearchEnd } from '@porthole/logs/types';
import { batchOf, EMPTY_BATCH, originAt, type RecordBatch, sliceBatch } from '@porthole/records';
import type { Exchange } from './exchange.ts';
import { type ReceivedLines, readChunks, type SearchBounds, takeItems } from './search-stream.ts';

/**
 * The records of a response in batches, an empty one first, and the end, bounded and checked like `searchItems`. Batches
 * that came with their columns are passed on as they are if nothing is wrong with them, others are written again.
 */
export async function* searchBatches(
  exchange: Exchange,
  bounds: SearchBounds,
): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
  const chunks = readChunks<(RecordBatch | SearchEnd)[]>(exchange, bounds, {
    nothing: [EMPTY_BATCH],
    take: (received, state) => {
      const skippedBefore = state.skipped.count;
      const { items, ...taken } = takeItems(exchange, received, state);
      const records = items.filter((item) => item.type === 'record');
      const value: (RecordBatch | SearchEnd)[] = [];
      if (records.length > 0) {
        const asSent = state.skipped.count === skippedBefore ? unchangedBatch(received, records) : undefined;
        value.push(asSent ?? batchOf(records.map(inOrder)));
      }
      const end = items.at(-1);
      if (end?.type === 'end') value.push(end);
      return { ...taken, value };
    },
  });
  for await (const items of chunks) yield* items;
}

/**
 * The batch as it was sent, if its lines are as our nodes write them, and its columns say the same. `records` are those of
 * the lines, from the first on.
 */
function unchangedBatch({ text, batch }: ReceivedLines, records: readonly FoundRecord[]): RecordBatch | undefined {
  if (batch === undefined) return undefined;
  let lineStart = 0;
  let file: string | undefined;
  let lineHead = '';
  for (let index = 0; index < records.length; index++) {
    const record = records[index] as FoundRecord;
    if (record.file !== file) {
      file = record.file;
      lineHead = `{"type":"record","file":${JSON.stringify(file)},"offset":`;
    }
    if (!isAt(text, lineStart, lineHead)) return undefined;
    if (!hasCursorNext(text, lineStart + lineHead.length, record.cursor)) return undefined;
    if (hasOddFields(record) || !hasColumns(batch, index, record)) return undefined;
    lineStart = text.indexOf('\n', lineStart) + 1;
  }
  return sliceBatch(batch, 0, records.length);
}

const BYTES = ',"bytes":';
const CURSOR = ',"cursor":"';

/**
 * Whether an offset, a length and this cursor are next: before what holds data of logs, so that the first cursor in the
 * line is that of the record.
 */
function hasCursorNext(text: string, start: number, cursor: string): boolean {
  const bytesAt = behindDigits(text, start);
  if (!isAt(text, bytesAt, BYTES)) return false;
  const cursorAt = behindDigits(text, bytesAt + BYTES.length);
  const valueAt = cursorAt + CURSOR.length;
  return isAt(text, cursorAt, CURSOR) && isAt(text, valueAt, cursor) && text[valueAt + cursor.length] === '"';
}

/** Like `startsWith`, which compares one character after the other: that takes five times as long. */
function isAt(text: string, position: number, part: string): boolean {
  return text.slice(position, position + part.length) === part;
}

function behindDigits(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

type OddFields = Record<'node' | 'atMs' | 'isUnsure' | 'contextText' | 'before' | 'after', unknown>;

/** Whether it has fields that only a node may add that merges records, a context in two forms, or records of its own. */
function hasOddFields(record: FoundRecord): boolean {
  const { node, atMs, isUnsure, contextText, before, after } = record as Partial<OddFields>;
  return (
    node !== undefined ||
    atMs !== undefined ||
    isUnsure !== undefined ||
    contextText !== undefined ||
    before !== undefined ||
    after !== undefined
  );
}

function hasColumns(batch: RecordBatch, index: number, { file, offset, timeMs }: FoundRecord): boolean {
  const time = batch.times[index] as number;
  const isSameTime = timeMs === undefined ? Number.isNaN(time) : time === timeMs;
  return isSameTime && batch.offsets[index] === offset && originAt(batch, index).file === file;
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
