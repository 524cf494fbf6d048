import type { ClusterHistogram, ClusterState, MemberReport, MemberSelection } from '@porthole/client';
import { type ColumnRange, type CountColumn, columnRange, countColumns } from '../../ui/chart/count-columns.ts';

export const RECENT_MS = 15 * 60_000;

const BUCKET_MS = 15_000;

/** Time budget; longer counts are partial. */
const BUDGET_MS = 5000;

export interface NodeCounts {
  errors: number;
  warnings: number;
}

export interface RecentCounts {
  range: ColumnRange;
  columns: CountColumn[];
  /** Only nodes that were counted. */
  byNode: ReadonlyMap<string, NodeCounts>;
  members: readonly MemberReport[];
}

/** Errors and warnings of the last 15 minutes, over time and per node. */
export async function countRecent(
  cluster: ClusterState,
  { nowMs, selection }: { nowMs: number; selection: MemberSelection },
  signal: AbortSignal,
): Promise<RecentCounts> {
  const range = columnRange(nowMs, { spanMs: RECENT_MS, bucketMs: BUCKET_MS });
  const { fromMs, toMs } = range;
  const query = { ...selection, fromMs, toMs, bucketMs: BUCKET_MS, buckets: RECENT_MS / BUCKET_MS };
  const options = { signal, budgetMs: BUDGET_MS };
  // The response has one count per node over all levels: two requests separate errors from warnings.
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
  // Without one of the files, the count is not a count.
  const counted = all.members.filter(({ outcome, isPartial }) => outcome === 'ok' && !isPartial);
  const byNode = counted.map(({ id }): [string, NodeCounts] => {
    const nodeErrors = nodeTotal(errors, id);
    // A record may have been written between the two responses.
    return [id, { errors: nodeErrors, warnings: Math.max(0, nodeTotal(all, id) - nodeErrors) }];
  });
  return { range, columns: countColumns(all.buckets, range), byNode: new Map(byNode), members: all.members };
}

/** Errors of some nodes, and how many of them were counted. */
export function groupErrors(
  nodes: readonly { id: string }[],
  { byNode }: Pick<RecentCounts, 'byNode'>,
): { errors: number; counted: number } {
  const own = nodes.flatMap(({ id }) => byNode.get(id) ?? []);
  return { errors: own.reduce((sum, { errors }) => sum + errors, 0), counted: own.length };
}

function nodeTotal({ buckets }: ClusterHistogram, id: string): number {
  return buckets.reduce((sum, { nodes }) => sum + (nodes[id] ?? 0), 0);
}
