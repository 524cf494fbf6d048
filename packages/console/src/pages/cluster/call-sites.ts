import type { ClusterDigest, ClusterState } from '@porthole/client';
import { ALL_LOGS, type LogsView } from '../../state/view.ts';

const HOUR_MS = 3_600_000;

/** What was not written in so long before the last hour is new. Longer ago costs more to look through than it tells. */
const LOOKBACK_MS = 6 * HOUR_MS;

const SHOWN = 8;

/** It is looked through again and again beside what users ask: briefly. */
const BUDGET_MS = 3000;

type Group = ClusterDigest['groups'][number];

/** Warnings and errors that began in the last hour, by the place in the code that wrote them. */
export function newCallSites(cluster: ClusterState, nowMs: number, signal: AbortSignal): Promise<ClusterDigest> {
  return cluster.logDigest(
    {
      fromMs: nowMs - LOOKBACK_MS,
      toMs: nowMs + 1,
      minLevel: 'WARN',
      limit: SHOWN,
      newSinceMs: nowMs - HOUR_MS,
      onlyNew: true,
    },
    { signal, budgetMs: BUDGET_MS },
  );
}

/** The records of a group, as far as the workspace can tell them from others. */
export function groupView({ source, shape, firstMs, level }: Group): LogsView {
  const range = firstMs === null ? null : ({ kind: 'fixed', fromMs: firstMs, toMs: null } as const);
  const view: LogsView = { ...ALL_LOGS, range, minLevel: level, isLive: false };
  if (source !== null) return { ...view, callSite: source };
  const text = longestLiteral(shape ?? '');
  return text ? { ...view, text, isOnlyMatches: true } : view;
}

/** Of a message whose changing parts are `*`, the longest part that does not change. */
export function longestLiteral(shape: string): string {
  return shape
    .split('*')
    .map((part) => part.trim())
    .reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}

/** `storage-2`, or `3 nodes`. */
export function nodesText({ nodes }: Group): string {
  const ids = Object.keys(nodes);
  return ids.length === 1 ? (ids[0] ?? '') : `${ids.length} nodes`;
}
