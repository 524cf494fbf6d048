import type { HistogramBucket } from '@porthole/client';

/** One bar: errors and warnings of a time bucket. */
export interface CountColumn {
  startMs: number;
  endMs: number;
  /** ERROR and FATAL. */
  errors: number;
  warnings: number;
}

export interface ColumnRange {
  fromMs: number;
  toMs: number;
  bucketMs: number;
}

/** A range aligned to buckets; the last one contains now. */
export function columnRange(nowMs: number, { spanMs, bucketMs }: { spanMs: number; bucketMs: number }): ColumnRange {
  const toMs = (Math.floor(nowMs / bucketMs) + 1) * bucketMs;
  return { fromMs: toMs - spanMs, toMs, bucketMs };
}

/** Every bar of the range, including empty ones, which a response omits. */
export function countColumns(
  buckets: readonly HistogramBucket[],
  { fromMs, toMs, bucketMs }: ColumnRange,
): CountColumn[] {
  const columns = Array.from({ length: Math.ceil((toMs - fromMs) / bucketMs) }, (_, index) => {
    const startMs = fromMs + index * bucketMs;
    return { startMs, endMs: startMs + bucketMs, errors: 0, warnings: 0 };
  });
  for (const { startMs, counts } of buckets) {
    const column = columns[Math.floor((startMs - fromMs) / bucketMs)];
    if (!column) continue;
    column.errors += (counts.ERROR ?? 0) + (counts.FATAL ?? 0);
    column.warnings += counts.WARN ?? 0;
  }
  return columns;
}

export interface CountTotals {
  errors: number;
  warnings: number;
}

export function sumColumns(columns: readonly CountColumn[]): CountTotals {
  return columns.reduce(
    (sum, { errors, warnings }) => ({ errors: sum.errors + errors, warnings: sum.warnings + warnings }),
    { errors: 0, warnings: 0 },
  );
}

/** The column with the most errors, the latest of equals; `null` if there are none. */
export function worstColumn(columns: readonly CountColumn[]): CountColumn | null {
  let worst: CountColumn | null = null;
  for (const column of columns) if (column.errors > 0 && column.errors >= (worst?.errors ?? 0)) worst = column;
  return worst;
}

/** Positions of the time labels below the bars, as fractions of the width, with space at the right end. */
export function axisTicks({ fromMs, toMs }: ColumnRange, count: number): { timeMs: number; share: number }[] {
  return Array.from({ length: count }, (_, index) => {
    const share = index / count;
    return { timeMs: fromMs + share * (toMs - fromMs), share };
  });
}
