import { bucketWidth } from '@porthole/logs';
import type { HistogramQuery } from '@porthole/logs/types';
import type { ClusterFacts } from './member-facts.ts';
import type { SourcePlan } from './plan-sources.ts';

/** The width of buckets of a range that neither side knows as a whole. */
export function commonWidth(
  { fromMs, toMs, bucketMs, buckets }: HistogramQuery,
  { plan, facts }: { plan: SourcePlan; facts: ClusterFacts },
): number {
  const first = plan.archived.flatMap(({ logs }) => logs.flatMap((log) => log.fromMs ?? []));
  const onDisk = facts.members.flatMap(({ logs }) => [...logs.values()].flatMap((timeMs) => timeMs ?? []));
  const startMs = fromMs ?? [...first, ...onDisk].reduce((a, b) => Math.min(a, b), Infinity);
  const last = plan.archived.flatMap(({ logs }) => logs.flatMap((log) => log.lastMs ?? []));
  const endMs = toMs ?? last.reduce((a, b) => Math.max(a, b), Date.now());
  const spanMs = Number.isFinite(startMs) ? Math.max(0, endMs - startMs) : 0;
  return bucketWidth({ spanMs, bucketMs, buckets });
}
