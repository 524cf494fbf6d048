import { type BucketSource, type ClusterTop, compareValues, mergeBuckets, mergeTop } from '@porthole/contract';
import type { Top } from '@porthole/logs/types';

/** The counts of a member, by its own clock. */
export interface MemberTop {
  id: string;
  /** To take off this time of its clock. */
  offsetAt(timeMs: number): number;
  top: Omit<Top, 'end'>;
}

type ClusterValue = ClusterTop['values'][number];

export interface BucketGrid {
  bucketMs: number;
  fromMs?: number | undefined;
  toMs?: number | undefined;
}

/** The values with their counts over time, for which members are asked in a second request. */
export function addBuckets(
  values: readonly ClusterValue[],
  tops: readonly MemberTop[],
  grid: BucketGrid,
): ClusterValue[] {
  const byValue = new Map(values.map(({ value }) => [value, [] as BucketSource[]]));
  for (const { id, offsetAt, top } of tops) {
    const { bucketMs = grid.bucketMs } = top;
    for (const { value, buckets = [] } of top.values) {
      // Values have no levels.
      const counts = buckets.map(({ startMs, count }) => ({ startMs, counts: { NONE: count } }));
      byValue.get(value)?.push({ id, offsetAt, histogram: { bucketMs, buckets: counts } });
    }
  }
  return values.map((value) => {
    const sources = byValue.get(value.value) ?? [];
    if (sources.length === 0) return value;
    const merged = mergeBuckets(sources, grid);
    return { ...value, buckets: merged.map(({ startMs, counts }) => ({ startMs, count: counts.NONE ?? 0 })) };
  });
}

/** The values with the counts of a second request about them only, which are exact. */
export function withExactCounts(values: readonly ClusterValue[], tops: readonly MemberTop[]): ClusterValue[] {
  const merged = mergeTop(tops, { limit: Number.POSITIVE_INFINITY, areGiven: true });
  const counted = new Map(merged.values.map((value) => [value.value, value]));
  return values.map((value) => counted.get(value.value) ?? value).sort(compareValues);
}
