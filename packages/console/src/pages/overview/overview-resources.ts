import type { ClusterConfigDiff, ClusterDigest, ClusterHistogram, MemberReport, NodeSettings } from '@porthole/client';
import { coverageOf, failures } from '@porthole/contract';
import { type LoadedEvents, loadEvents } from '../../events/load-events.ts';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { ALL_LOGS, canFollow, closedRange, type LogsView, type TimeRange } from '../../state/view.ts';

/* What the overview shows besides the node list. It outlives the page, so that returning to it shows data at once. */

/** These make every node scan its logs or configuration: refreshed less often than the node list. */
const HEAVY_MS = 30_000;

/** Time budget of counts; longer ones are partial. */
const COUNT_MS = 5000;

/** Time budget: this runs repeatedly next to the requests of users. */
const DIGEST_MS = 3000;

/** Cells of a node: as many as are told apart on a phone, and a minute each in an hour. */
const CELLS = 60;

const SHOWN_PATTERNS = 5;

/** Points of a sparkline. */
const SPARKS = 16;

/** Widths of cells that people count in. */
const CELL_MS = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].map(
  (seconds) => seconds * 1000,
);

interface OverviewResources {
  strip: Resource<ErrorStrip>;
  events: Resource<LoadedEvents>;
  patterns: Resource<NewPatterns>;
  drift: Resource<ClusterConfigDiff>;
}

let known: { key: string; resources: OverviewResources } | undefined;

/** What nodes report of a time range: all of them, or those with certain labels. */
export function overviewResources(labels: readonly string[], range: TimeRange | null): OverviewResources {
  const key = JSON.stringify([labels, range]);
  if (known?.key !== key) known = { key, resources: createResources(labels, range) };
  return known.resources;
}

function createResources(labels: readonly string[], range: TimeRange | null): OverviewResources {
  const selection = labels.length === 0 ? {} : { labels };
  // Nothing new falls into a range that has an end.
  const every = canFollow(range) ? { everyMs: HEAVY_MS } : {};
  const { cluster } = session.client;
  const now = () => closedRange(range, Date.now());
  return {
    strip: new Resource(async (signal) => {
      const cells = stripRange(now());
      const { fromMs, toMs, bucketMs } = cells;
      const request = { ...selection, fromMs, toMs, bucketMs, buckets: CELLS, minLevel: 'ERROR' } as const;
      return errorStrip(cells, await cluster.logHistogram(request, { signal, budgetMs: COUNT_MS }));
    }, every),
    events: new Resource((signal) => loadEvents({ ...selection, ...now() }, signal), every),
    patterns: new Resource(async (signal) => {
      const { fromMs, toMs } = now();
      const request = {
        ...selection,
        fromMs,
        toMs: toMs + 1,
        minLevel: 'WARN',
        newSinceMs: fromMs,
        onlyNew: true,
      } as const;
      const digest = await cluster.logDigest({ ...request, limit: SHOWN_PATTERNS }, { signal, budgetMs: DIGEST_MS });
      const bucketMs = Math.max(1000, Math.ceil((toMs - fromMs) / SPARKS));
      const sparks = await Promise.all(
        digest.groups.map(async (group) => {
          if (group.source === null || group.level === null) return null;
          const own = {
            ...selection,
            fromMs,
            toMs,
            bucketMs,
            buckets: SPARKS,
            source: group.source,
            minLevel: group.level,
          };
          return sparkline(await cluster.logHistogram(own, { signal, budgetMs: DIGEST_MS }), { fromMs, bucketMs });
        }),
      );
      return { ...digest, sparks };
    }, every),
    drift: new Resource((signal) => cluster.configDiff(selection, { signal }), { everyMs: HEAVY_MS }),
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

/** The cells of the strip: whole units of the clock, the last one contains the end. */
export interface StripRange {
  fromMs: number;
  toMs: number;
  bucketMs: number;
  count: number;
}

export function stripRange({ fromMs, toMs }: { fromMs: number; toMs: number }): StripRange {
  const spanMs = Math.max(CELLS * 1000, toMs - fromMs);
  const bucketMs = CELL_MS.find((widthMs) => spanMs / widthMs <= CELLS) ?? Math.ceil(spanMs / CELLS);
  const endMs = Math.ceil(toMs / bucketMs) * bucketMs;
  const count = Math.min(CELLS, Math.ceil(spanMs / bucketMs));
  return { fromMs: endMs - count * bucketMs, toMs: endMs, bucketMs, count };
}

/** Errors of each node over time. */
export interface ErrorStrip {
  range: StripRange;
  byNode: ReadonlyMap<string, NodeCells>;
  /** The highest count of a cell. */
  most: number;
  members: readonly MemberReport[];
  coverage?: ClusterHistogram['coverage'];
}

export interface NodeCells {
  /** Errors; `null`: not read, or the node was gone by then. */
  cells: readonly (number | null)[];
  errors: number;
}

/** Only what was read is a number: a node that did not respond has none, one that is gone none after its end. */
export function errorStrip(range: StripRange, histogram: ClusterHistogram): ErrorStrip {
  const { fromMs, bucketMs, count } = range;
  const { counted, members, buckets, coverage } = histogram;
  const byNode = new Map<string, NodeCells>();
  let most = 0;
  for (const { id, outcome, asOfMs } of members) {
    const endMs = outcome === 'ok' ? Number.POSITIVE_INFINITY : (asOfMs ?? Number.NEGATIVE_INFINITY);
    const cells = Array.from({ length: count }, (_, index): number | null => {
      const startMs = fromMs + index * bucketMs;
      const isCounted = counted === null || (startMs + bucketMs > counted.fromMs && startMs <= counted.toMs);
      return isCounted && startMs <= endMs ? 0 : null;
    });
    let errors = 0;
    for (const { startMs, nodes } of buckets) {
      const index = Math.floor((startMs - fromMs) / bucketMs);
      const own = nodes[id] ?? 0;
      if (own === 0 || index < 0 || index >= count) continue;
      cells[index] = (cells[index] ?? 0) + own;
      errors += own;
      most = Math.max(most, cells[index] ?? 0);
    }
    byNode.set(id, { cells, errors });
  }
  return { range, byNode, most, members, ...(coverage && { coverage }) };
}

/** Warnings and errors, by call site, of which there are none before the range. */
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
