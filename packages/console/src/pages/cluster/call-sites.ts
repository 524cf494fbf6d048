import type { ClusterDigest, ClusterState, MemberSelection } from '@porthole/client';
import { coverageOf, failures } from '@porthole/contract';
import { ALL_LOGS, type LogsView } from '../../state/view.ts';

const HOUR_MS = 3_600_000;

const SHOWN = 8;

/** Time budget: this runs repeatedly next to the requests of users. */
const BUDGET_MS = 3000;

type Group = ClusterDigest['groups'][number];

/** Warnings and errors of the last hour, by call site, of which there are none before. */
export function newCallSites(
  cluster: ClusterState,
  { nowMs, selection }: { nowMs: number; selection: MemberSelection },
  signal: AbortSignal,
): Promise<ClusterDigest> {
  return cluster.logDigest(
    {
      ...selection,
      fromMs: nowMs - HOUR_MS,
      toMs: nowMs + 1,
      minLevel: 'WARN',
      limit: SHOWN,
      newSinceMs: nowMs - HOUR_MS,
      onlyNew: true,
    },
    { signal, budgetMs: BUDGET_MS },
  );
}

/** What is to be said below the list: that it is empty, or not known to be all. */
export function newSitesText(digest: ClusterDigest): string | null {
  const { groups, totalGroups, baseline } = digest;
  const [part] = failures(coverageOf(digest));
  // A note beside it names the members.
  const unread = part ? '' : baseline?.isComplete ? undefined : ` (${compared(baseline)})`;
  if (unread !== undefined) {
    const question = groups.some(({ isNewUnknown }) => isNewUnknown)
      ? 'Which of these are new'
      : 'Whether anything else is new';
    return `${groups.length === 0 ? 'Whether anything is new' : question} is not known: not everything was read${unread}.`;
  }
  if (groups.length === 0) return 'Nothing new: no call site started to log warnings or errors in the last hour.';
  const more = totalGroups - groups.length;
  return more > 0 ? `About ${more} more.` : null;
}

function compared(baseline: ClusterDigest['baseline']): string {
  return baseline?.detail ?? 'a node of an earlier version compares with the last hour only';
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
