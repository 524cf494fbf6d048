import type { Level } from '@porthole/client';
import type { HistogramResult } from '../source/log-source.ts';

/* Converts counts per bucket to bars, and positions on the chart to times. Widths and heights are fractions. */

const RISING: readonly Level[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

export interface ChartSpan {
  fromMs: number;
  toMs: number;
}

export interface ChartBar {
  startMs: number;
  endMs: number;
  errors: number;
  warnings: number;
  others: number;
}

/** Part of the chart that was not counted, as fractions of its width. */
export interface Uncounted {
  from: number;
  to: number;
}

/** Limits of the chart besides its counts. */
export interface ChartBounds {
  requested: { fromMs?: number | undefined; toMs?: number | undefined };
  /** Time span of the whole log, if known; it may exceed the counted part. */
  log: { firstMs: number | null; lastMs: number | null } | null;
  nowMs: number;
}

/** The time span of the chart: the requested range if it is bounded, otherwise the log as far as known. */
export function chartSpan(
  { buckets, bucketMs }: HistogramResult,
  { requested, log, nowMs }: ChartBounds,
): ChartSpan | null {
  const first = buckets[0];
  const last = buckets.at(-1);
  const starts = [first?.startMs, log?.firstMs ?? undefined].filter((timeMs) => timeMs !== undefined);
  const ends = [last && last.startMs + bucketMs, log?.lastMs ?? undefined].filter((timeMs) => timeMs !== undefined);
  if (starts.length === 0 || ends.length === 0) return null;
  const fromMs = requested.fromMs ?? Math.min(...starts);
  const toMs = requested.toMs ?? (requested.fromMs === undefined ? Math.max(...ends) : nowMs);
  return toMs <= fromMs ? null : { fromMs, toMs };
}

/** Only levels that are shown; all levels are counted. */
export function chartBars({ buckets, bucketMs }: HistogramResult, minLevel: Level | null = null): ChartBar[] {
  const shown = minLevel === null ? null : RISING.slice(RISING.indexOf(minLevel));
  return buckets.map(({ startMs, counts }) => {
    const of = (level: Level | 'NONE') =>
      shown === null || shown.some((other) => other === level) ? (counts[level] ?? 0) : 0;
    const others = of('INFO') + of('DEBUG') + of('TRACE') + of('NONE');
    return { startMs, endMs: startMs + bucketMs, errors: of('FATAL') + of('ERROR'), warnings: of('WARN'), others };
  });
}

export function fractionOfTime({ fromMs, toMs }: ChartSpan, timeMs: number): number {
  return Math.min(1, Math.max(0, (timeMs - fromMs) / (toMs - fromMs)));
}

export function timeAtFraction({ fromMs, toMs }: ChartSpan, fraction: number): number {
  return Math.round(fromMs + Math.min(1, Math.max(0, fraction)) * (toMs - fromMs));
}

/** Square root scale: a few records next to thousands stay visible. */
export function barHeight(count: number, largest: number): number {
  return largest === 0 || count === 0 ? 0 : Math.sqrt(count / largest);
}

export function barTotal({ errors, warnings, others }: ChartBar): number {
  return errors + warnings + others;
}

/** The parts outside of the counted range. */
export function uncountedRanges({ counted }: Pick<HistogramResult, 'counted'>, span: ChartSpan): Uncounted[] {
  if (!counted) return [];
  const from = fractionOfTime(span, counted.fromMs);
  const to = fractionOfTime(span, counted.toMs);
  return [
    { from: 0, to: from },
    { from: to, to: 1 },
  ].filter((part) => part.to > part.from);
}

/** The bar at a time; `undefined` if that time was not counted. */
export function barAt(bars: readonly ChartBar[], timeMs: number): ChartBar | undefined {
  return bars.find(({ startMs, endMs }) => timeMs >= startMs && timeMs < endMs);
}
