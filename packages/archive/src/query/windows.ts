import { bucketWidth } from '@porthole/logs';
import { quote, quoteTime } from '../clickhouse/quote.ts';
import { FIRST_DAY_MS, LAST_DAY_MS } from '../schema/schema.ts';
import type { ArchiveOptions, PreparedQuery } from './prepare-query.ts';
import { type DecodedRow, decodeRow, RECORD_COLUMNS, type RecordRow } from './row-columns.ts';

/*
 * A query reads one part of its time range after the other, small ones first: what is nearest is returned at
 * once, a limit that is reached early leaves the rest unread, and a budget that ends knows how far it came.
 */

/** Own times of rows, `[fromMs, toMs)`; may be infinite. */
export interface Window {
  fromMs: number;
  toMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Each window is larger by this factor: the number of statements grows with the logarithm of the range. */
const GROWTH = 4;

interface WindowOptions {
  newestFirst: boolean;
  /** Where nodes say their records are; the rest of the range is one part before it and one behind it. */
  likely: Window | undefined;
  firstMs?: number;
}

/** Divides a range, beginning at its newest or oldest end. */
export function* divideRange(range: Window, options: WindowOptions): Generator<Window> {
  const { newestFirst, likely = range, firstMs = HOUR_MS } = options;
  if (range.fromMs >= range.toMs) return;
  const fromMs = Math.max(range.fromMs, likely.fromMs);
  const toMs = Math.min(range.toMs, likely.toMs);
  if (!(toMs - fromMs < Infinity) || fromMs >= toMs) {
    yield range;
    return;
  }
  const older = { fromMs: range.fromMs, toMs: fromMs };
  const newer = { fromMs: toMs, toMs: range.toMs };
  const [first, last] = newestFirst ? [newer, older] : [older, newer];
  if (first.fromMs < first.toMs) yield first;
  let widthMs = firstMs;
  for (let doneMs = 0; doneMs < toMs - fromMs; widthMs *= GROWTH) {
    const endMs = Math.min(doneMs + widthMs, toMs - fromMs);
    yield newestFirst
      ? { fromMs: toMs - endMs, toMs: toMs - doneMs }
      : { fromMs: fromMs + doneMs, toMs: fromMs + endMs };
    doneMs = endMs;
  }
  if (last.fromMs < last.toMs) yield last;
}

/** Rows in a window; by partition as well, where the time decides it. */
export function windowToSql({ fromMs, toMs }: Window): string {
  const conditions: string[] = [];
  if (fromMs !== -Infinity) conditions.push(`time_ms >= ${quoteTime(fromMs)}`);
  if (toMs !== Infinity) conditions.push(`time_ms < ${quoteTime(toMs)}`);
  if (fromMs >= FIRST_DAY_MS && toMs <= LAST_DAY_MS)
    conditions.push(`day BETWEEN ${quoteDay(fromMs)} AND ${quoteDay(toMs)}`);
  return conditions.length === 0 ? '1' : conditions.join(' AND ');
}

function quoteDay(timeMs: number): string {
  return `toDate(${quote(new Date(Math.floor(timeMs / DAY_MS) * DAY_MS).toISOString().slice(0, 10))})`;
}

/** The first part that is counted if there is a budget: a few hours are counted in any. */
const FIRST_WINDOW_MS = 6 * 3_600_000;

/** What the counts are of, if the budget ended; `null`: everything. */
export type Counted = { fromMs: number; toMs: number } | null;

/**
 * Counts one part of the range after the other, newest first; without a budget all at once. `count` returns nothing of a
 * part if the budget ends in it.
 */
export async function countWindows(
  prepared: PreparedQuery,
  { budgetMs }: ArchiveOptions,
  count: (isInside: string) => Promise<void>,
): Promise<Counted> {
  const { range, likely, run } = prepared;
  const windows =
    budgetMs === undefined ? [range] : divideRange(range, { newestFirst: true, likely, firstMs: FIRST_WINDOW_MS });
  let complete: Window | undefined;
  for (const window of windows) {
    await count(windowToSql(window));
    if (run.isOver) return countedRange(complete, window);
    complete = { fromMs: window.fromMs, toMs: Math.max(complete?.toMs ?? window.toMs, window.toMs) };
  }
  return null;
}

function countedRange(complete: Window | undefined, failed: Window): Counted {
  const { fromMs, toMs } = complete ?? { fromMs: failed.toMs, toMs: failed.toMs };
  const finite = (timeMs: number) => Math.min(8.64e15, Math.max(-8.64e15, timeMs));
  return { fromMs: finite(fromMs), toMs: finite(toMs) };
}

/** Matching rows as records, in any order: those of `where`, or all. The engine tests what SQL has not decided. */
export async function* matchingRows(
  { run, table, where: all, filter }: PreparedQuery,
  isInside: string,
  where: string = all,
): AsyncGenerator<DecodedRow[]> {
  for await (const rows of run.rows<RecordRow>(
    `SELECT ${RECORD_COLUMNS} FROM ${table} WHERE ${where} AND ${isInside}`,
  )) {
    const decoded = rows.map(decodeRow);
    yield filter ? await filter(decoded) : decoded;
  }
}

interface WidthRequest {
  fromMs?: number;
  toMs?: number;
  bucketMs?: number | undefined;
  buckets: number;
  maxBuckets?: number;
}

/** The width of buckets as a node chooses it: the requested one, or a round one that suits the range. */
export async function chooseWidth(prepared: PreparedQuery, request: WidthRequest): Promise<number> {
  const { bucketMs, buckets, maxBuckets } = request;
  let { fromMs, toMs } = request;
  if (fromMs === undefined || toMs === undefined) {
    const { run, anyTable, scope } = prepared;
    const [span] = await run.all<{ first_ms: number; last_ms: number; timed: number }>(
      `SELECT min(time_ms) AS first_ms, max(time_ms) AS last_ms, count() AS timed FROM ${anyTable} WHERE ${scope} AND has_time = 1`,
    );
    const isKnown = span !== undefined && span.timed > 0;
    fromMs ??= isKnown ? span.first_ms : (toMs ?? 0);
    toMs ??= isKnown ? span.last_ms : fromMs;
  }
  return bucketWidth({ spanMs: Math.max(0, toMs - fromMs), bucketMs, buckets, maxBuckets });
}

/** The number of the bucket of a row, as SQL. */
export function bucketOf(bucketMs: number): string {
  return `toInt64(floor(time_ms / ${bucketMs}))`;
}
