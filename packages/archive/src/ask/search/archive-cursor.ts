import { invalidCursor, packCursor, readInteger, readList, readText, readTime, unpackCursor } from '@porthole/logs';
import type { SearchQuery } from '@porthole/logs/types';
import { quote, quoteInteger, quoteTime } from '../../clickhouse/quote.ts';
import type { RecordRow } from '../row-columns.ts';

export type Order = SearchQuery['order'];

/** What identifies a record, in the order of a search. */
export type RowKey = Pick<RecordRow, 'time_ms' | 'node' | 'log' | 'file_id' | 'file_offset'>;

/** Where a search continues: behind a record, or behind everything newer (older) than a time. */
export type SearchPosition = { key: RowKey } | { timeMs: number };

/** Independent of the node that made it. */
export function encodeArchiveCursor(order: Order, position: SearchPosition): string {
  if (!('key' in position)) return packCursor({ kind: 'archive', order }, [position.timeMs]);
  const { time_ms, node, log, file_id, file_offset } = position.key;
  return packCursor({ kind: 'archive', order }, [time_ms, node, log, file_id, file_offset]);
}

/** Names of nodes, logs and files are shorter. */
const MAX_NAME = 1024;

/** Throws CURSOR_INVALID for anything `encodeArchiveCursor` did not make for this order. */
export function decodeArchiveCursor(text: string, order: Order): SearchPosition {
  const [time, ...key] = unpackCursor({ kind: 'archive', order }, text);
  const time_ms = readTime(time);
  if (!Number.isInteger(time_ms)) throw invalidCursor();
  if (key.length === 0) return { timeMs: time_ms };
  const [node, log, fileId, offset] = readList(key, 4);
  const names = { node: readText(node, MAX_NAME), log: readText(log, MAX_NAME), file_id: readText(fileId, MAX_NAME) };
  return { key: { time_ms, ...names, file_offset: readInteger(offset) } };
}

/** By time; of records with the same time by node and log, as the merge of nodes has them. */
export function orderToSql(order: Order): string {
  const direction = order === 'newest' ? 'DESC' : 'ASC';
  return `time_ms ${direction}, node, log, file_id, file_offset ${direction}`;
}

/** Rows behind a position. */
export function positionToSql(position: SearchPosition, order: Order): string {
  const sign = order === 'newest' ? '<' : '>';
  if ('timeMs' in position) return `time_ms ${order === 'newest' ? '<' : '>='} ${quoteTime(position.timeMs)}`;
  const { time_ms, node, log, file_id, file_offset } = position.key;
  const time = quoteTime(time_ms);
  const names = `(${[node, log, file_id].map(quote).join(', ')})`;
  return (
    `(time_ms ${sign} ${time} OR (time_ms = ${time} AND ((node, log, file_id) > ${names} OR ` +
    `((node, log, file_id) = ${names} AND file_offset ${sign} ${quoteInteger(file_offset)}))))`
  );
}
