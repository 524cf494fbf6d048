import type { Question } from '../question.ts';
import {
  type DecodedRow,
  decodeRow,
  HAS_TEXT_NAMES,
  hasTextNames,
  RECORD_COLUMNS,
  type RecordRow,
} from '../row-columns.ts';
import { type Window, windowToSql } from '../windows.ts';
import { type Order, orderToSql, positionToSql, type SearchPosition } from './archive-cursor.ts';

/** If the engine decides, more rows are read than wanted; at a time so many. */
const MIN_CANDIDATES = 1000;
const MAX_CANDIDATES = 20_000;

export interface WindowSearch {
  window: Window;
  order: Order;
  /** Where it continues; `undefined`: at the start of the window. */
  after: SearchPosition | undefined;
  /** How many more are wanted. */
  wanted(): number;
}

/** How far a window was read. */
export interface WindowProgress {
  /** The last row that was read, whether it matches or not. */
  position: SearchPosition | undefined;
  /** Nothing is left in the window. */
  isDone: boolean;
}

/** Matching rows of a window in order, in batches; `progress` is kept up to date with each. */
export async function* searchRows(
  question: Question,
  { window, order, after, wanted }: WindowSearch,
  progress: WindowProgress,
): AsyncGenerator<DecodedRow[], void, undefined> {
  const { run, table, where, filter } = question;
  progress.position = after;
  let isStrict = false;
  let candidates = filter ? Math.max(MIN_CANDIDATES, wanted()) : wanted();
  while (wanted() > 0 && !run.isOver) {
    const behind = progress.position ? ` AND ${positionToSql(progress.position, order)}` : '';
    const named = isStrict ? ` AND ${HAS_TEXT_NAMES}` : '';
    const sql =
      `SELECT ${RECORD_COLUMNS} FROM ${table} WHERE ${where} AND ${windowToSql(window)}${behind}${named} ` +
      `ORDER BY ${orderToSql(order)} LIMIT ${candidates}`;
    let read = 0;
    for await (const all of run.rows<RecordRow>(sql)) {
      const bad = isStrict ? -1 : all.findIndex((row) => !hasTextNames(row));
      const rows = bad < 0 ? all : all.slice(0, bad);
      read += rows.length;
      const decoded = rows.map(decodeRow);
      const matching = (filter ? await filter(decoded) : decoded).slice(0, wanted());
      const isAll = matching.length < wanted();
      const end = isAll ? rows.at(-1) : matching.at(-1)?.row;
      if (end) progress.position = { key: end };
      if (matching.length > 0) yield matching;
      if (wanted() <= 0) return;
      if (bad < 0) continue;
      // Testing the names of all rows costs more than reading: only once somebody has written such.
      isStrict = true;
      break;
    }
    if (run.isOver) return;
    if (isStrict && named === '') continue;
    if (read < candidates) {
      progress.isDone = true;
      return;
    }
    candidates = filter ? Math.min(MAX_CANDIDATES, candidates * 2) : wanted();
  }
}
