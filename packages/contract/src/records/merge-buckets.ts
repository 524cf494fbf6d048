import type { Histogram, HistogramBucket } from '@porthole/logs/types';

/** The counts of one log or member, by its own clock, in buckets at most as wide as the merged ones. */
export interface BucketSource {
  /** Names it in `nodes` of the merged buckets. */
  id: string;
  /** To take off this time of its clock. */
  offsetAt(timeMs: number): number;
  histogram: Pick<Histogram, 'bucketMs' | 'buckets'>;
}

export interface BucketGrid {
  bucketMs: number;
  /** Nothing outside of this range is returned: its first and last buckets take what is. */
  fromMs?: number | undefined;
  toMs?: number | undefined;
}

export interface MergedBucket extends HistogramBucket {
  /** Records of each source, by its id. */
  nodes: Record<string, number>;
}

type Counts = HistogramBucket['counts'];

/**
 * Histograms added up in common buckets, in the order of time. A bucket counts where its middle falls: wrong by at most
 * half its width.
 */
export function mergeBuckets(
  sources: readonly BucketSource[],
  { bucketMs, fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY }: BucketGrid,
): MergedBucket[] {
  const first = Math.floor(fromMs / bucketMs);
  const last = Math.ceil(toMs / bucketMs) - 1;
  const merged = new Map<number, { counts: Map<keyof Counts, number>; nodes: Map<string, number> }>();
  for (const { id, offsetAt, histogram } of sources)
    for (const { startMs, counts } of histogram.buckets) {
      const memberMs = startMs + histogram.bucketMs / 2;
      const middleMs = memberMs - offsetAt(memberMs);
      const index = Math.min(Math.max(Math.floor(middleMs / bucketMs), first), last);
      const bucket = merged.get(index) ?? { counts: new Map(), nodes: new Map() };
      merged.set(index, bucket);
      for (const [level, count] of Object.entries(counts) as [keyof Counts, number][]) {
        add(bucket.counts, level, count);
        add(bucket.nodes, id, count);
      }
    }
  return [...merged]
    .sort(([a], [b]) => a - b)
    .map(([index, { counts, nodes }]) => ({
      startMs: index * bucketMs,
      counts: Object.fromEntries(counts) as Counts,
      nodes: Object.fromEntries(nodes),
    }));
}

function add<K>(counts: Map<K, number>, key: K, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}
