import type { ClusterRecord } from '@porthole/contract';
import type { FoundRecord, SearchQuery } from '@porthole/logs/types';
import { quote, quoteInteger } from '../../clickhouse/quote.ts';
import type { Question } from '../question.ts';
import { type DecodedRow, decodeRow, RECORD_COLUMNS, type RecordRow } from '../row-columns.ts';
import { quoteTime } from '../sql/quote-time.ts';
import { shownRecord } from './search-archive.ts';

/** Neighbours are near in time; those that are not cost a look at more of the log. */
const SPANS_MS = [3_600_000, 24 * 3_600_000, Infinity];

interface Found {
  rows: readonly DecodedRow[];
  records: readonly ClusterRecord[];
}

/** Adds the records before and after each, whatever they contain. Not after the budget has ended. */
export async function addContext(
  question: Question,
  query: Pick<SearchQuery, 'before' | 'after' | 'raw' | 'fields'>,
  { rows, records }: Found,
): Promise<ClusterRecord[]> {
  const found: ClusterRecord[] = [];
  for (const [index, record] of records.entries()) {
    const row = rows[index]?.row;
    if (!row || question.run.isOver) {
      found.push(record);
      continue;
    }
    const [before, after] = [
      await neighbours(question, row, { ...query, count: query.before, isBefore: true }),
      await neighbours(question, row, { ...query, count: query.after, isBefore: false }),
    ];
    found.push({
      ...record,
      ...(query.before > 0 && { before: before.reverse() }),
      ...(query.after > 0 && { after }),
    });
  }
  return found;
}

interface Side extends Pick<SearchQuery, 'raw' | 'fields'> {
  count: number;
  isBefore: boolean;
}

/** Nearest first: in the same file by position, then in other files of the log by time. */
async function neighbours(question: Question, row: RecordRow, side: Side): Promise<FoundRecord[]> {
  const { count, isBefore } = side;
  if (count === 0) return [];
  const [sign, direction] = isBefore ? ['<', 'DESC'] : ['>', 'ASC'];
  const file = quote(row.file_id);
  const isNext =
    `((file_id = ${file} AND file_offset ${sign} ${quoteInteger(row.file_offset)}) OR ` +
    `(file_id != ${file} AND time_ms ${sign}= ${quoteTime(row.time_ms)}))`;
  for (const spanMs of SPANS_MS) {
    const near =
      spanMs === Infinity
        ? '1'
        : `time_ms BETWEEN ${quoteTime(row.time_ms - spanMs)} AND ${quoteTime(row.time_ms + spanMs)}`;
    const rows = await question.run.all<RecordRow>(
      `SELECT ${RECORD_COLUMNS} FROM ${question.table} WHERE ${question.logs} AND node = ${quote(row.node)} ` +
        `AND log = ${quote(row.log)} AND ${near} AND ${isNext} ` +
        `ORDER BY file_id = ${file} DESC, if(file_id = ${file}, 0, time_ms) ${direction}, file_id, file_offset ${direction} ` +
        `LIMIT ${quoteInteger(count)}`,
    );
    if (rows.length >= count || spanMs === Infinity || question.run.isOver)
      return rows.map((each) => shownRecord(decodeRow(each).record, side));
  }
  return [];
}
