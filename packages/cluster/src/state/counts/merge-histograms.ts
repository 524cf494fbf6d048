import type { ClusterHistogram } from '@porthole/contract';
import type { Histogram } from '@porthole/logs/types';

type Counts = Histogram['buckets'][number]['counts'];

/** A member's counts, in its own time and in stretches of its own, at most as wide as those of the answer. */
export interface MemberHistogram {
  id: string;
  offsetMs: number;
  histogram: Pick<Histogram, 'bucketMs' | 'buckets' | 'untimed'>;
}

export interface HistogramGrid {
  bucketMs: number;
  /** What was asked for, by our clock: nothing is told outside of it. */
  fromMs?: number | undefined;
  toMs?: number | undefined;
}

/**
 * One grid for all, by our clock. A member's stretch counts where its middle falls: by at most half of its width it is
 * wrong, which is why members whose clock is off are asked for narrower ones.
 */
export function mergeHistograms(
  histograms: readonly MemberHistogram[],
  { bucketMs, fromMs = -Infinity, toMs = Infinity }: HistogramGrid,
): Omit<ClusterHistogram, 'members' | 'counted'> {
  const first = Math.floor(fromMs / bucketMs);
  const last = Math.ceil(toMs / bucketMs) - 1;
  const merged = new Map<number, { counts: Map<keyof Counts, number>; nodes: Map<string, number> }>();
  let untimed = 0;
  for (const { id, offsetMs, histogram } of histograms) {
    untimed += histogram.untimed;
    for (const { startMs, counts } of histogram.buckets) {
      const middleMs = startMs + histogram.bucketMs / 2 - offsetMs;
      const place = Math.min(Math.max(Math.floor(middleMs / bucketMs), first), last);
      const bucket = merged.get(place) ?? { counts: new Map(), nodes: new Map() };
      merged.set(place, bucket);
      for (const [level, count] of Object.entries(counts) as [keyof Counts, number][]) {
        add(bucket.counts, level, count);
        add(bucket.nodes, id, count);
      }
    }
  }
  const buckets = [...merged]
    .sort(([a], [b]) => a - b)
    .map(([place, { counts, nodes }]) => ({
      startMs: place * bucketMs,
      counts: Object.fromEntries(counts) as Counts,
      nodes: Object.fromEntries(nodes),
    }));
  return { bucketMs, buckets, untimed };
}

function add<K>(counts: Map<K, number>, key: K, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}
