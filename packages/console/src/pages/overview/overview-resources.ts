import { type ClusterDigest, type ClusterHistogram, type NodeSettings, PortholeError } from '@porthole/client';
import { coverageOf, failures, formatQuery, patternQuery } from '@porthole/contract';
import { type LoadedEvents, loadEvents } from '../../events/load-events.ts';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { closedRange } from '../../state/time-range.ts';
import { ALL_LOGS, type LogsView, type OverviewView } from '../../state/view.ts';
import type { Loaded } from '../../ui/hooks.ts';
import { HEAVY_MS, useReported } from '../nodes/node-resources.ts';

/* What the overview shows besides the node list. It outlives the page, so that returning to it shows data at once. */

/** Time budget: this runs repeatedly next to the requests of users. */
const DIGEST_MS = 3000;

const SHOWN_PATTERNS = 5;

/** Points of a sparkline. */
const SPARKS = 16;

/** What happened to nodes in a time range. */
export function useEvents(shown: Pick<OverviewView, 'labels' | 'range'>): Loaded<LoadedEvents> {
  return useReported('events', shown, (selection, signal) =>
    loadEvents({ ...selection, ...closedRange(shown.range, Date.now()) }, signal),
  );
}

/** Warnings and errors, by call site, of which there are none before the range. */
export function usePatterns(shown: Pick<OverviewView, 'labels' | 'range'>): Loaded<NewPatterns> {
  return useReported('patterns', shown, async (selection, signal) => {
    const { client } = session;
    const nodes = ['*'];
    const { fromMs, toMs } = closedRange(shown.range, Date.now());
    const since = { fromMs, toMs: toMs + 1, minLevel: 'WARN', newSinceMs: fromMs, onlyNew: true } as const;
    const options = { signal, budgetMs: DIGEST_MS };
    const digest = await client.digest({ nodes, ...selection, ...since, limit: SHOWN_PATTERNS }, options);
    const bucketMs = Math.max(1000, Math.ceil((toMs - fromMs) / SPARKS));
    const sparks = await Promise.all(
      digest.groups.map(async (group) => {
        const query = patternQuery(group);
        if (!query) return null;
        const own = { nodes, ...selection, fromMs, toMs, bucketMs, buckets: SPARKS, query };
        return sparkline(await client.histogram(own, options), { fromMs, bucketMs });
      }),
    );
    return { ...digest, sparks };
  });
}

/** Settings of the node that serves this page, for a node without a cluster. */
export const ownSettings = new Resource<NodeSettings>(
  async (signal) => {
    const { configs } = await session.client.settings({}, { signal });
    const own = configs[0]?.settings;
    if (!own) throw new PortholeError('BAD_ANSWER', 'the node did not return its own settings');
    return own;
  },
  { everyMs: HEAVY_MS },
);

/** Settings that only decide where a node listens. */
const LISTENING = /^(http|grpc)\.(host|port)$/;

/** Whether a node was given nothing to show: it has only its own log and settings. */
export function isUnconfigured({ observes, settings }: Pick<NodeSettings, 'observes' | 'settings'>): boolean {
  return observes === 'self' && settings.every(({ key, changed }) => !changed || LISTENING.test(key));
}

export interface NewPatterns extends ClusterDigest {
  /** Counts over time of each group; `null`: not counted. */
  sparks: readonly (readonly number[] | null)[];
}

function sparkline(
  { buckets }: ClusterHistogram,
  { fromMs, bucketMs }: { fromMs: number; bucketMs: number },
): number[] {
  const points = Array<number>(SPARKS).fill(0);
  for (const { startMs, counts } of buckets) {
    const index = Math.min(SPARKS - 1, Math.max(0, Math.floor((startMs - fromMs) / bucketMs)));
    points[index] = (points[index] ?? 0) + Object.values(counts).reduce((sum, count) => sum + count, 0);
  }
  return points;
}

type Group = ClusterDigest['groups'][number];

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
  if (groups.length === 0) return 'Nothing new: no call site started to log warnings or errors in this time.';
  const more = totalGroups - groups.length;
  return more > 0 ? `About ${more} more.` : null;
}

function compared(baseline: ClusterDigest['baseline']): string {
  return baseline?.detail ?? 'for an unknown reason';
}

/** The records of a group, as closely as a log view can select them. */
export function groupView(group: Group): LogsView {
  const { source, firstMs, level: minLevel } = group;
  const range = firstMs === null ? null : ({ kind: 'fixed', fromMs: firstMs, toMs: null } as const);
  const view: LogsView = { ...ALL_LOGS, range, isLive: false };
  if (source !== null) return { ...view, minLevel, callSite: source };
  const query = patternQuery(group);
  return query ? { ...view, query: formatQuery(query) } : { ...view, minLevel };
}
