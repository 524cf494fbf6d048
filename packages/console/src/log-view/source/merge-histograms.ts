import type { HistogramBucket } from '@porthole/client';
import type { HistogramResult } from './log-source.ts';

/** Counts of several logs as one. Buckets that are narrower than the widest are added to the one they begin in. */
export function mergeHistograms(answers: readonly HistogramResult[]): HistogramResult {
  const bucketMs = Math.max(1, ...answers.map((answer) => answer.bucketMs));
  const sums = new Map<number, HistogramBucket>();
  for (const { buckets } of answers)
    for (const { startMs, counts } of buckets) {
      const start = Math.floor(startMs / bucketMs) * bucketMs;
      const sum = sums.get(start) ?? { startMs: start, counts: {} };
      sums.set(start, { startMs: start, counts: addCounts(sum.counts, counts) });
    }
  const partial = answers.flatMap(({ counted }) => (counted ? [counted] : []));
  return {
    bucketMs,
    buckets: [...sums.values()].sort((a, b) => a.startMs - b.startMs),
    // What one of them has not counted is not known.
    counted:
      partial.length === 0
        ? null
        : {
            fromMs: Math.max(...partial.map(({ fromMs }) => fromMs)),
            toMs: Math.min(...partial.map(({ toMs }) => toMs)),
          },
    members: answers.flatMap(({ members }) => members),
  };
}

function addCounts(a: HistogramBucket['counts'], b: HistogramBucket['counts']): HistogramBucket['counts'] {
  const sum = { ...a };
  for (const level of Object.keys(b) as (keyof HistogramBucket['counts'])[])
    sum[level] = (sum[level] ?? 0) + (b[level] ?? 0);
  return sum;
}
