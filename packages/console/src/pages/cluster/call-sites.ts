import type { ClusterDigest, ClusterState, MemberSelection } from '@porthole/client';
import { ALL_LOGS, type LogsView } from '../../state/view.ts';

const HOUR_MS = 3_600_000;

/**
 * A call site that logged nothing for this long before the last hour is new. Scanning further back costs more than it
 * adds.
 */
const LOOKBACK_MS = 6 * HOUR_MS;

const SHOWN = 8;

/** Time budget: this runs repeatedly next to the requests of users. */
const BUDGET_MS = 3000;

type Group = ClusterDigest['groups'][number];

/** Warnings and errors that began in the last hour, by call site. */
export function newCallSites(
  cluster: ClusterState,
  { nowMs, selection }: { nowMs: number; selection: MemberSelection },
  signal: AbortSignal,
): Promise<ClusterDigest> {
  return cluster.logDigest(
    {
      ...selection,
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

/** The records of a group, as closely as a log view can select them. */
export function groupView({ source, shape, firstMs, level, sample }: Group): LogsView {
  const range = firstMs === null ? null : ({ kind: 'fixed', fromMs: firstMs, toMs: null } as const);
  const view: LogsView = { ...ALL_LOGS, range, minLevel: level, isLive: false };
  if (source !== null) return { ...view, callSite: source };
  const text = longestLiteral(shape ?? '', sample.message);
  return text ? { ...view, text, isOnlyMatches: true } : view;
}

/**
 * The longest constant part of a message whose variable parts are `*`. In a shape one space stands for any white space: a
 * part that is not in the message as it is counts by its words.
 */
export function longestLiteral(shape: string, message: string): string {
  return shape
    .split('*')
    .map((part) => part.trim())
    .flatMap((part) => (message.includes(part) ? part : part.split(' ')))
    .reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}

/** `storage-2`, or `3 nodes`. */
export function nodesText({ nodes }: Group): string {
  const ids = Object.keys(nodes);
  return ids.length === 1 ? (ids[0] ?? '') : `${ids.length} nodes`;
}
