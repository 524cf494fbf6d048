import { bucketWidth } from '@porthole/logs';
import type { ArchiveOptions, Question } from '../question.ts';
import { type DecodedRow, decodeRow, RECORD_COLUMNS, type RecordRow } from '../row-columns.ts';
import { divideRange, type Window, windowToSql } from '../windows.ts';

/** The first part that is counted if there is a budget: a few hours are counted in any. */
const FIRST_WINDOW_MS = 6 * 3_600_000;

/** What the counts are of, if the budget ended; `null`: everything. */
export type Counted = { fromMs: number; toMs: number } | null;

/**
 * Counts one part of the range after the other, newest first; without a budget all at once. `count` returns nothing of a
 * part if the budget ends in it.
 */
export async function countWindows(
  question: Question,
  { budgetMs }: ArchiveOptions,
  count: (isInside: string) => Promise<void>,
): Promise<Counted> {
  const { range, likely, run } = question;
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
  { run, table, where: all, filter }: Question,
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
export async function chooseWidth(question: Question, request: WidthRequest): Promise<number> {
  const { bucketMs, buckets, maxBuckets } = request;
  let { fromMs, toMs } = request;
  if (fromMs === undefined || toMs === undefined) {
    const { run, anyTable, scope } = question;
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
