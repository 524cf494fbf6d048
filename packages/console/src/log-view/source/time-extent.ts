import type { Extent, ShownRecord } from './log-source.ts';

/* A scroll bar that stands for time. */

/** Over these times; of logs without any it is a point. */
export function timeExtent(times: readonly (number | null)[]): Extent {
  const known = times.filter((timeMs) => timeMs !== null);
  if (known.length === 0) return { kind: 'time', firstMs: 0, lastMs: 0 };
  return { kind: 'time', firstMs: Math.min(...known), lastMs: Math.max(...known) };
}

export function timeOfFraction(fraction: number, { firstMs, lastMs }: Extent): number {
  const [first, last] = [firstMs ?? 0, lastMs ?? 0];
  return Math.round(first + fraction * (last - first));
}

export function fractionOfTime({ atMs }: ShownRecord, { firstMs, lastMs }: Extent): number | undefined {
  if (atMs === undefined || firstMs === null || lastMs === null || lastMs <= firstMs) return undefined;
  return Math.min(1, Math.max(0, (atMs - firstMs) / (lastMs - firstMs)));
}
