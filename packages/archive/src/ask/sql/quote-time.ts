import { quoteInteger } from '../../clickhouse/quote.ts';

/** The range of `Date`: a time beyond it is as good as its end. */
const MAX_TIME_MS = 8.64e15;

/** Epoch ms as SQL, for a column of 64 bits; also of infinity. */
export function quoteTime(timeMs: number): string {
  return quoteInteger(Math.min(MAX_TIME_MS, Math.max(-MAX_TIME_MS, Math.trunc(timeMs))));
}
