import type {
  ClusterConfigDiff,
  ClusterDigest,
  ClusterHistogram,
  ClusterState,
  MemberReport,
  MemberSelection,
  NodeSettings,
} from '@porthole/client';
import { coverageOf, failures } from '@porthole/contract';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { ALL_LOGS, type LogsView } from '../../state/view.ts';
import { type ColumnRange, type CountColumn, columnRange, countColumns } from '../../ui/count-chart.tsx';

/*
 * Resources of the cluster page besides the node list. They outlive the page, so that returning to it shows data at
 * once.
 */

/** These make every node scan its logs or configuration: refreshed less often than the node list. */
const HEAVY_MS = 30_000;

/** What nodes report: all of them, or those with certain labels. */
interface ClusterResources {
  recent: Resource<RecentCounts>;
  callSites: Resource<ClusterDigest>;
  configDrift: Resource<ClusterConfigDiff>;
}

const allNodes = createResources([]);

/** The resources of the last labels asked for. */
let labelled = { key: '', resources: allNodes };

export function clusterResources(labels: readonly string[]): ClusterResources {
  // Labels have no spaces.
  const key = labels.join(' ');
  if (key === '') return allNodes;
  if (labelled.key !== key) labelled = { key, resources: createResources(labels) };
  return labelled.resources;
}

function createResources(labels: readonly string[]): ClusterResources {
  const selection = labels.length === 0 ? {} : { labels };
  const every = { everyMs: HEAVY_MS };
  return {
    recent: new Resource(
      (signal) => countRecent(session.client.cluster, { nowMs: Date.now(), selection }, signal),
      every,
    ),
    callSites: new Resource(
      (signal) => newCallSites(session.client.cluster, { nowMs: Date.now(), selection }, signal),
      every,
    ),
    configDrift: new Resource((signal) => session.client.cluster.configDiff(selection, { signal }), every),
  };
}

/** Settings of the node that serves this page, for a node without a cluster. */
export const ownSettings = new Resource<NodeSettings>((signal) => session.client.settings({ signal }), {
  everyMs: HEAVY_MS,
});

/** Settings that only decide where a node listens. */
const LISTENING = /^(http|grpc)\.(host|port)$/;

/** Whether a node was given nothing to show: it has only its own log and settings. */
export function isUnconfigured({ observes, settings }: Pick<NodeSettings, 'observes' | 'settings'>): boolean {
  return observes === 'self' && settings.every(({ key, changed }) => !changed || LISTENING.test(key));
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

const HOUR_MS = 3_600_000;

const SHOWN = 8;

/** Time budget: this runs repeatedly next to the requests of users. */
const DIGEST_MS = 3000;

type Group = ClusterDigest['groups'][number];

/** Warnings and errors of the last hour, by call site, of which there are none before. */
function newCallSites(
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
    { signal, budgetMs: DIGEST_MS },
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
