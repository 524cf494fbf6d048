import { PortholeError } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs/types';
import { quote, quoteInteger, quoteTime } from '../../clickhouse/quote.ts';
import type { RecordRow } from '../row-columns.ts';

export type Order = SearchQuery['order'];

/** What identifies a record, in the order of a search. */
export type RowKey = Pick<RecordRow, 'time_ms' | 'node' | 'log' | 'file_id' | 'file_offset'>;

/** Where a search continues: behind a record, or behind everything newer (older) than a time. */
export type SearchPosition = { key: RowKey } | { timeMs: number };

/** Cursors of nodes and clusters do not begin like this. */
const PREFIX = 'a1.';

/** Names are bounded, so that it always fits into an URL. */
const MAX_CHARACTERS = 4096;

/** URL-safe, and independent of the node that made it. */
export function encodeArchiveCursor(order: Order, position: SearchPosition): string {
  const direction = order === 'newest' ? 0 : 1;
  const values =
    'key' in position
      ? [position.key.time_ms, position.key.node, position.key.log, position.key.file_id, position.key.file_offset]
      : [position.timeMs];
  return PREFIX + Buffer.from(JSON.stringify([direction, ...values])).toString('base64url');
}

/** Throws CURSOR_INVALID for anything `encodeArchiveCursor` did not make for this order. */
export function decodeArchiveCursor(text: string, order: Order): SearchPosition {
  const [direction, timeMs, ...rest] = readValues(text);
  const isOrder = direction === (order === 'newest' ? 0 : 1);
  if (!isOrder || typeof timeMs !== 'number' || !(Math.abs(timeMs) <= 8.64e15) || !Number.isInteger(timeMs))
    throw invalid();
  if (rest.length === 0) return { timeMs };
  const [node, log, file_id, file_offset] = rest;
  const areTexts = [node, log, file_id].every((value) => typeof value === 'string' && value.length <= 1024);
  if (rest.length !== 4 || !areTexts || !Number.isSafeInteger(file_offset) || Number(file_offset) < 0) throw invalid();
  return { key: { time_ms: timeMs, node, log, file_id, file_offset } as RowKey };
}

function readValues(text: string): unknown[] {
  if (!text.startsWith(PREFIX) || text.length > MAX_CHARACTERS) throw invalid();
  try {
    const values: unknown = JSON.parse(Buffer.from(text.slice(PREFIX.length), 'base64url').toString());
    return Array.isArray(values) ? values : [];
  } catch (cause) {
    throw invalid(cause);
  }
}

function invalid(cause?: unknown): PortholeError {
  const message = 'invalid cursor of an archive search: use it exactly as returned, with the same order';
  return new PortholeError('CURSOR_INVALID', message, cause === undefined ? undefined : { cause });
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
