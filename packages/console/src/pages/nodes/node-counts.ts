import type { ClusterHistogram, ClusterState, MemberReport, MemberSelection } from '@porthole/client';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { type ColumnRange, type CountColumn, columnRange, countColumns } from '../../ui/count-chart.tsx';

/** It makes every node scan its logs: refreshed less often than the node list. */
const HEAVY_MS = 30_000;

let known = { key: '', counts: createCounts([]) };

/** Errors and warnings of nodes with certain labels; of the last labels asked for they outlive the page. */
export function recentResource(labels: readonly string[]): Resource<RecentCounts> {
  const key = labels.join(' ');
  if (known.key !== key) known = { key, counts: createCounts(labels) };
  return known.counts;
}

function createCounts(labels: readonly string[]): Resource<RecentCounts> {
  const selection = labels.length === 0 ? {} : { labels };
  return new Resource((signal) => countRecent(session.client.cluster, { nowMs: Date.now(), selection }, signal), {
    everyMs: HEAVY_MS,
  });
}

export const RECENT_MS = 15 * 60_000;

const BUCKET_MS = 15_000;

/** Time budget; longer counts are partial. */
const COUNT_MS = 5000;

interface NodeCounts {
  errors: number;
  warnings: number;
  /** There may be more: not all was read, or only what was recorded of it. */
  isPartial: boolean;
}

export interface RecentCounts {
  range: ColumnRange;
  columns: CountColumn[];
  /** Only nodes of which something was counted. Together they have what the columns have. */
  byNode: ReadonlyMap<string, NodeCounts>;
  members: readonly MemberReport[];
}

/** Errors and warnings of the last 15 minutes, over time and per node. */
async function countRecent(
  cluster: ClusterState,
  { nowMs, selection }: { nowMs: number; selection: MemberSelection },
  signal: AbortSignal,
): Promise<RecentCounts> {
  const range = columnRange(nowMs, { spanMs: RECENT_MS, bucketMs: BUCKET_MS });
  const { fromMs, toMs } = range;
  const query = { ...selection, fromMs, toMs, bucketMs: BUCKET_MS, buckets: RECENT_MS / BUCKET_MS };
  const options = { signal, budgetMs: COUNT_MS };
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
  const partial = new Set([...all.members, ...errors.members].filter(isPart).map(({ id }) => id));
  const byNode = new Map(all.members.filter(wasCounted).map(({ id }) => [id, emptyCounts(partial.has(id))]));
  const startsMs = new Set([...all.buckets, ...errors.buckets].map(({ startMs }) => startMs));
  const [ofAll, ofErrors] = [nodesByStart(all), nodesByStart(errors)];
  const buckets = [...startsMs].map((startMs) => {
    const counts = { ERROR: 0, WARN: 0 };
    for (const [id, node] of byNode) {
      const nodeErrors = ofErrors.get(startMs)?.[id] ?? 0;
      // A record may have been written between the two responses.
      const nodeWarnings = Math.max(0, (ofAll.get(startMs)?.[id] ?? 0) - nodeErrors);
      node.errors += nodeErrors;
      node.warnings += nodeWarnings;
      counts.ERROR += nodeErrors;
      counts.WARN += nodeWarnings;
    }
    return { startMs, counts };
  });
  return { range, columns: countColumns(buckets, range), byNode, members: all.members };
}

function isPart({ outcome, isPartial }: MemberReport): boolean {
  return outcome !== 'ok' || isPartial === true;
}

function wasCounted({ outcome, asOfMs }: MemberReport): boolean {
  return outcome === 'ok' || asOfMs !== null;
}

function emptyCounts(isPartial: boolean): NodeCounts {
  return { errors: 0, warnings: 0, isPartial };
}

function nodesByStart({ buckets }: ClusterHistogram): Map<number, Record<string, number>> {
  return new Map(buckets.map(({ startMs, nodes }) => [startMs, nodes]));
}

/** Errors of some nodes, and how many of them were counted completely. */
export function groupErrors(
  nodes: readonly { id: string }[],
  { byNode }: Pick<RecentCounts, 'byNode'>,
): { errors: number; counted: number } {
  const own = nodes.flatMap(({ id }) => byNode.get(id) ?? []);
  const counted = own.filter(({ isPartial }) => !isPartial).length;
  return { errors: own.reduce((sum, { errors }) => sum + errors, 0), counted };
}
