const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Round widths. */
const WIDTHS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365, 3650].map((count) => count * DAY),
];

/** Maximum buckets of a response. */
const MAX_BUCKETS = 10_000;

export interface BucketOptions {
  spanMs: number;
  /** The requested width; increased if it would give too many buckets. */
  bucketMs?: number | undefined;
  buckets: number;
  maxBuckets?: number | undefined;
}

export function bucketWidth({ spanMs, bucketMs, buckets, maxBuckets = MAX_BUCKETS }: BucketOptions): number {
  const least = spanMs / Math.min(bucketMs === undefined ? buckets : Infinity, maxBuckets);
  if (bucketMs !== undefined && least <= bucketMs) return bucketMs;
  return WIDTHS.find((width) => width >= least) ?? Math.ceil(least / DAY) * DAY;
}
