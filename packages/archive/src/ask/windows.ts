import { quote } from '../clickhouse/quote.ts';
import { quoteTime } from './sql/quote-time.ts';

/*
 * A question is asked for one part of its time range after the other, small ones first: what is nearest is returned at
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

/** Rows of other times are in the partition of the day they were shipped on. */
const FIRST_DAY_MS = Date.UTC(1971, 0, 1);
const LAST_DAY_MS = Date.UTC(2100, 0, 1);

export interface WindowOptions {
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
