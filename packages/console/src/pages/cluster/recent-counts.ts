import type { ClusterHistogram, ClusterState, MemberReport } from '@porthole/client';
import { type ColumnRange, type CountColumn, columnRange, countColumns } from '../../ui/chart/count-columns.ts';

export const RECENT_MS = 15 * 60_000;

const BUCKET_MS = 15_000;

/** A count that takes longer is told as far as it came. */
const BUDGET_MS = 5000;

export interface NodeCounts {
  errors: number;
  warnings: number;
}

export interface RecentCounts {
  range: ColumnRange;
  columns: CountColumn[];
  /** Of the nodes that counted; the others are absent. */
  byNode: ReadonlyMap<string, NodeCounts>;
  members: readonly MemberReport[];
}

/** Errors and warnings of the last quarter of an hour: over time, and of each node. */
export async function countRecent(cluster: ClusterState, nowMs: number, signal: AbortSignal): Promise<RecentCounts> {
  const range = columnRange(nowMs, { spanMs: RECENT_MS, bucketMs: BUCKET_MS });
  const query = { fromMs: range.fromMs, toMs: range.toMs, bucketMs: BUCKET_MS, buckets: RECENT_MS / BUCKET_MS };
  const options = { signal, budgetMs: BUDGET_MS };
  // An answer tells each node's records of all levels together: what is asked twice can be told apart.
  const [all, errors] = await Promise.all([
    cluster.logHistogram({ ...query, minLevel: 'WARN' }, options),
    cluster.logHistogram({ ...query, minLevel: 'ERROR' }, options),
  ]);
  return recentCounts({ range, all, errors });
}

export function recentCounts(given: {
  range: ColumnRange;
  all: ClusterHistogram;
  errors: ClusterHistogram;
}): RecentCounts {
  const { range, all, errors } = given;
  // What is left of a count when a file could not be read is no count.
  const counted = all.members.filter(({ outcome, isPartial }) => outcome === 'ok' && !isPartial);
  const byNode = counted.map(({ id }): [string, NodeCounts] => {
    const nodeErrors = nodeTotal(errors, id);
    // Between the two answers a record may have been written.
    return [id, { errors: nodeErrors, warnings: Math.max(0, nodeTotal(all, id) - nodeErrors) }];
  });
  return { range, columns: countColumns(all.buckets, range), byNode: new Map(byNode), members: all.members };
}

function nodeTotal({ buckets }: ClusterHistogram, id: string): number {
  return buckets.reduce((sum, { nodes }) => sum + (nodes[id] ?? 0), 0);
}
