import { LEVELS_BY_RANK } from '../parse/level.ts';
import type { BlockSummary } from '../scan/block/blocks.ts';
import type { HistogramJob, HistogramResult } from '../scan/jobs.ts';
import { RecordMatcher } from '../scan/match/record-matcher.ts';
import { RANKS } from '../scan/tasks/scan-histogram.ts';
import type { Histogram, HistogramBucket, HistogramQuery, ReadOptions, RecordFilter } from '../types.ts';
import { FamilyCount } from './count-families.ts';
import { timeSpan } from './coverage.ts';
import { type OpenFamily, releaseFamily } from './files/open-family.ts';
import type { FilePart, KnownBlocks } from './plan/file-parts.ts';
import type { ScanContext } from './scan-context.ts';
import { type SearchOptions, StopReason } from './stop-reason.ts';

/** Counts matching records per time bucket and level. Takes ownership of the families and releases them. */
export async function histogram(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
  query: HistogramQuery,
  options: SearchOptions = {},
): Promise<Histogram> {
  const stop = new StopReason(options);
  try {
    await scanContext.checkRegex(query, stop.newFlag());
    const bucketMs = await chooseWidth(scanContext, families, { ...query, client: stop.client });
    const matcher = new RecordMatcher(query);
    const counts = new LevelCounts(bucketMs, matcher);
    const known = matcher.headOnly ? counts : undefined;
    const jobFor = ({ file, runs, startBytes, endBytes }: FilePart): HistogramJob => {
      return { kind: 'histogram', file, runs, startBytes, endBytes, filter: query, bucketMs };
    };
    const count = new FamilyCount(scanContext, families, { filter: query, stop, known, jobFor });
    for await (const { result } of count.results()) counts.add(result);
    const end = await count.end(counts.total);
    return { bucketMs, buckets: counts.buckets(), untimed: counts.untimed, end };
  } finally {
    stop.end();
    for (const family of families) releaseFamily(family);
  }
}

/** The width of the buckets: the requested one, or a round one that suits the time range. */
export async function chooseWidth(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
  { fromMs, toMs, bucketMs, buckets, maxBuckets, client }: RecordFilter & Omit<BucketOptions, 'spanMs'> & ReadOptions,
): Promise<number> {
  const span =
    fromMs === undefined || toMs === undefined ? await timeSpan(scanContext, families, { client }) : undefined;
  const first = fromMs ?? span?.firstMs ?? 0;
  const last = toMs ?? span?.lastMs ?? first;
  return bucketWidth({ spanMs: Math.max(0, last - first), bucketMs, buckets, maxBuckets });
}

/** Counts by bucket and rank, from scans and from the index. */
class LevelCounts implements KnownBlocks {
  untimed = 0;
  readonly #bucketMs: number;
  readonly #matcher: RecordMatcher;
  readonly #buckets = new Map<number, number[]>();

  constructor(bucketMs: number, matcher: RecordMatcher) {
    this.#bucketMs = bucketMs;
    this.#matcher = matcher;
  }

  get total(): number {
    let sum = this.untimed;
    for (const counts of this.#buckets.values()) for (const count of counts) sum += count;
    return sum;
  }

  add({ buckets, counts, untimed }: HistogramResult): void {
    this.untimed += untimed;
    for (const [index, bucket] of buckets.entries()) {
      this.#addTo(bucket, counts.slice(index * RANKS, (index + 1) * RANKS));
    }
  }

  mayTake({ all }: BlockSummary): boolean {
    return all !== null;
  }

  /** Counts a block without scanning it, if all its records fall into one bucket. */
  take({ all }: BlockSummary): boolean {
    if (!all) return false;
    const { minMs, maxMs, counts, untimed } = all;
    const { ranks, hasTimes, fromMs, toMs } = this.#matcher;
    const bucket = Math.floor(minMs / this.#bucketMs);
    const isOneBucket = bucket === Math.floor(maxMs / this.#bucketMs);
    if (untimed > 0 || !isOneBucket || (hasTimes && !(minMs >= fromMs && maxMs < toMs))) return false;
    this.#addTo(
      bucket,
      counts.map((count, rank) => (ranks[rank] === 1 ? count : 0)),
    );
    return true;
  }

  buckets(): HistogramBucket[] {
    return [...this.#buckets]
      .sort(([a], [b]) => a - b)
      .map(([bucket, counts]) => ({ startMs: bucket * this.#bucketMs, counts: namedCounts(counts) }));
  }

  #addTo(bucket: number, counts: readonly number[]): void {
    if (counts.every((count) => count === 0)) return;
    const sums = this.#buckets.get(bucket) ?? new Array<number>(RANKS).fill(0);
    this.#buckets.set(
      bucket,
      sums.map((sum, rank) => sum + (counts[rank] ?? 0)),
    );
  }
}

function namedCounts(counts: readonly number[]): HistogramBucket['counts'] {
  const named: HistogramBucket['counts'] = {};
  counts.forEach((count, rank) => {
    if (count > 0) named[LEVELS_BY_RANK[rank] ?? 'NONE'] = count;
  });
  return named;
}

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

interface BucketOptions {
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
