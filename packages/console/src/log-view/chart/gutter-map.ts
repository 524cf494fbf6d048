import type { Extent, HistogramResult } from '../source/log-source.ts';

/* Maps counts to positions on the scroll bar of the whole log. */

export interface GutterTick {
  /** 0 is the start of the log, 1 its end. */
  fraction: number;
  kind: 'error' | 'warning' | 'match';
}

/** Closer ticks would fall on the same pixel. */
const MAX_TICKS = 300;

/** Smallest thumb that can be grabbed with a finger, as a fraction of the bar. */
const MIN_THUMB = 0.03;

/** Ticks of errors and warnings; errors last, so that they are drawn on top. */
export function levelTicks(histogram: HistogramResult, extent: Extent): GutterTick[] {
  const errors = new Set<number>();
  const warnings = new Set<number>();
  for (const { fraction, isError, isWarning } of levelMarks(histogram, extent)) {
    const tick = Math.round(fraction * MAX_TICKS) / MAX_TICKS;
    if (isError) errors.add(tick);
    else if (isWarning) warnings.add(tick);
  }
  return [
    ...[...warnings]
      .filter((fraction) => !errors.has(fraction))
      .map((fraction) => ({ fraction, kind: 'warning' as const })),
    ...[...errors].map((fraction) => ({ fraction, kind: 'error' as const })),
  ];
}

/** The part of the bar that the view covers, with a minimum size. */
export function thumbPosition(first: number, last: number): { top: number; height: number } {
  const span = last - first;
  const height = Math.min(1, Math.max(MIN_THUMB, span));
  // The thumb touches both ends of the bar, even when it was enlarged.
  const scrolled = span >= 1 ? 0 : Math.min(1, first / (1 - span));
  return { top: scrolled * (1 - height), height };
}

interface LevelMark {
  fraction: number;
  isError: boolean;
  isWarning: boolean;
}

/**
 * By time on a time-based bar; on a byte-based one by the share of records before, which is closer to bytes than time
 * is.
 */
function levelMarks({ buckets, bucketMs, counted }: HistogramResult, extent: Extent): LevelMark[] {
  const { firstMs, lastMs } = extent;
  const sums = buckets.map(({ counts }) => Object.values(counts).reduce((sum, count) => sum + count, 0));
  const all = sums.reduce((sum, count) => sum + count, 0);
  const isWhole = counted === null && covers(buckets, { firstMs, lastMs, bucketMs });
  let before = 0;
  return buckets.flatMap(({ startMs, counts }, index) => {
    const own = sums[index] ?? 0;
    const byCount = (before + own / 2) / all;
    before += own;
    const byTime =
      firstMs === null || lastMs === null || lastMs <= firstMs
        ? undefined
        : (startMs + bucketMs / 2 - firstMs) / (lastMs - firstMs);
    const fraction = extent.kind === 'bytes' && isWhole ? byCount : byTime;
    if (fraction === undefined || fraction < 0 || fraction > 1) return [];
    return [{ fraction, isError: Boolean(counts.ERROR || counts.FATAL), isWarning: Boolean(counts.WARN) }];
  });
}

/** Whether the counts cover the whole log, not only a range of it. */
function covers(
  buckets: HistogramResult['buckets'],
  { firstMs, lastMs, bucketMs }: { firstMs: number | null; lastMs: number | null; bucketMs: number },
): boolean {
  const first = buckets[0];
  const last = buckets.at(-1);
  if (!first || !last) return false;
  return (firstMs === null || first.startMs <= firstMs) && (lastMs === null || last.startMs + bucketMs >= lastMs);
}
