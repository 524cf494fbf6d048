import {
  type ClusterHistogram,
  type Coverage,
  EVENT_LEVELS,
  type EventKind,
  formatSpan,
  type Incident,
  type IncidentPhase,
  type IncidentRequest,
  type MemberReport,
  type Standout,
} from '@porthole/contract';
import { ComparedNodes } from './compared-nodes.ts';
import { type ClusterEvent, type IncidentOptions, IncidentRequests, type IncidentSource } from './incident-requests.ts';
import {
  ENDS,
  mostObservers,
  type Occurrence,
  occurrenceText,
  occurrenceTitle,
  subjectOf,
  toEventStandout,
  toOccurrences,
} from './occurrences.ts';
import {
  comparePatterns,
  countText,
  isError,
  isFresh,
  type Pattern,
  patternFilter,
  patternNodes,
  patternScore,
  perMinute,
  toPatternStandout,
  type Window,
} from './patterns.ts';
import { toSteps } from './steps.ts';
import {
  ERROR_RULE,
  type Grid,
  heaviestStretch,
  PATTERN_RULE,
  type Stretch,
  silentStretches,
  type Unusual,
  unusualStretches,
  WARNING_RULE,
} from './unusual-stretch.ts';
import { findValues, tellingValues } from './values.ts';

/** What an incident is compared with: somewhat more than an hour, so that what is done every hour is in it. */
const BEFORE_MS = 75 * 60_000;
const DAY_MS = 86_400_000;

/** Enough buckets to see when it began; what is shorter is not distinguished. */
const BUCKETS = 120;
const MIN_BUCKET_MS = 5000;

/** Fewer are no past to compare with. */
const MIN_USUAL_BUCKETS = 10;

/** A node with fewer records in the time before was not there yet: it is compared with the others. */
const MIN_KNOWN = 20;

/** A killed node or a full disk is an incident, without a single error. */
const EVENT_WEIGHT = 60;

/** What happened so long after the end is shown: a restart that cured it, a member that is back. */
const AFTERMATH_MS = 5 * 60_000;

/** Patterns whose first records are read, in the order of their scores. */
const MAX_PATTERNS = 8;

/** Rising patterns that are counted over time if no rate of all records is unusual, and from which G² on. */
const MAX_LOCATED = 6;
const RISING_RATIO = 6;

const MAX_STANDOUTS = 10;
/** What is below is not shown. */
const MIN_SCORE = 5;

/** What an incident is looked for in: counts of records over time, and events. */
interface Overview {
  all: ClusterHistogram;
  warnings: ClusterHistogram;
  errors: ClusterHistogram;
  events: ClusterEvent[];
  grid: Grid;
  /** Members that responded, but had not the time to count all: nothing is said of what is usual there. */
  cutNodes: number;
}

/**
 * The most unusual stretch of a time range, what happened before and in it, and what stands out. Every part is counted by
 * requests that a client can send as well.
 */
export async function findIncident(
  source: IncidentSource,
  request: IncidentRequest,
  options: IncidentOptions = {},
): Promise<Incident> {
  const requests = new IncidentRequests(source, request, options);
  const overview = await lookOver(requests, request);
  const derived = derivedEvents(overview, requests.members);
  const isTwice = ({ kind, node, timeMs }: ClusterEvent) =>
    derived.some((one) => one.kind === kind && one.node === node && Math.abs(one.timeMs - timeMs) < AFTERMATH_MS);
  overview.events = [...overview.events.filter((event) => !isTwice(event)), ...derived].sort(
    (a, b) => a.timeMs - b.timeMs,
  );
  const unusual = findUnusual(overview, request);
  const stretch = heaviestStretch(unusual.length > 0 ? unusual : await unusualPatterns(requests, overview, request));
  if (!stretch) return quiet(requests, overview, request);
  return explain(requests, { overview, stretch, request });
}

async function lookOver(requests: IncidentRequests, { fromMs, toMs }: IncidentRequest): Promise<Overview> {
  const rangeMs = toMs - fromMs;
  const bucketMs = Math.max(MIN_BUCKET_MS, Math.ceil(rangeMs / BUCKETS / 1000) * 1000);
  const most = Math.ceil(Math.max(BEFORE_MS, rangeMs / 4) / bucketMs);
  const startMs = (Math.floor(fromMs / bucketMs) - most) * bucketMs;
  const range = { fromMs: startMs, toMs };
  const [allRead, warningsRead, errorsRead, events] = await Promise.all([
    requests.histogram(range, bucketMs),
    requests.histogram(range, bucketMs, { minLevel: 'WARN' }),
    requests.histogram(range, bucketMs, { minLevel: 'ERROR' }),
    requests.events({ fromMs: fromMs - DAY_MS, toMs }),
  ]);
  // What a node had no time to count would look like a quiet time, and the rest like a burst.
  const compared = new ComparedNodes([allRead, warningsRead, errorsRead]);
  const all = compared.histogramOf(allRead);
  const warnings = compared.histogramOf(warningsRead);
  const errors = compared.histogramOf(errorsRead);
  // A time of which no log is left is not a quiet one.
  const unknown = Math.floor(((all.buckets[0]?.startMs ?? startMs) - startMs) / bucketMs);
  const skipped = unknown <= most - MIN_USUAL_BUCKETS ? Math.max(0, unknown) : 0;
  const usual = most - skipped;
  const gridMs = startMs + skipped * bucketMs;
  const known = nodeCounts(all, gridMs, gridMs + usual * bucketMs);
  const isNew = (node: string) => (known.get(node) ?? 0) < MIN_KNOWN;
  const total = Math.ceil((toMs - gridMs) / bucketMs);
  const cutNodes = allRead.members.filter(({ id, outcome }) => outcome === 'ok' && !compared.has(id)).length;
  return { all, warnings, errors, events, grid: { fromMs: gridMs, bucketMs, usual, total, isNew }, cutNodes };
}

/** Unusual rates, and events that are never usual. */
function findUnusual({ all, warnings, errors, events, grid }: Overview, { fromMs, toMs }: IncidentRequest): Unusual[] {
  // What a burst is, the counts show; and which of the logs that fell silent always had something to say.
  const severe = events.filter(
    ({ kind, timeMs, record }) =>
      (EVENT_LEVELS[kind] === 'ERROR' || (kind === 'log-silent' && record === null)) &&
      !BY_OTHERS.has(kind) &&
      timeMs >= fromMs &&
      timeMs < toMs,
  );
  return [
    ...unusualStretches(errors, grid, ERROR_RULE, all),
    ...unusualStretches(warnings, grid, WARNING_RULE, all),
    ...severe.map(({ timeMs, node }) => ({ fromMs: timeMs, toMs: timeMs + 1, node, weight: EVENT_WEIGHT })),
  ];
}

/** What counts show, and nobody wrote: members that are gone, and logs that fell silent. */
function derivedEvents({ all, events, grid }: Overview, members: readonly MemberReport[]): ClusterEvent[] {
  const isKnown = (id: string, timeMs: number) =>
    events.some(
      (event) => ENDS.has(event.kind) && subjectOf(event) === id && Math.abs(event.timeMs - timeMs) < AFTERMATH_MS,
    );
  const derived = (
    kind: EventKind,
    { node, timeMs, fields = {} }: Pick<ClusterEvent, 'node' | 'timeMs'> & Partial<Pick<ClusterEvent, 'fields'>>,
    message: string,
  ): ClusterEvent[] => (isKnown(node, timeMs) ? [] : [{ kind, node, timeMs, message, fields, record: null }]);
  const whole = members.filter(({ outcome, isPartial }) => outcome === 'ok' && !isPartial).map(({ id }) => id);
  return [
    ...members.flatMap((report) => {
      const { id: node, state, outcome } = report;
      // One that is only slow has not lost anybody: its deadline passed, and nothing else is known.
      const isLost = state === 'failed' || (state === 'unreachable' && outcome !== 'timeout');
      const lost = isLost ? lossOf(report) : undefined;
      // What came long after the time range is not of it.
      const isLater = lost && lost.timeMs >= grid.fromMs + grid.total * grid.bucketMs + AFTERMATH_MS;
      return lost && !isLater ? derived('member-lost', { node, ...lost }, `${node} does not respond`) : [];
    }),
    ...silentStretches(all, grid, whole).flatMap(({ node, fromMs, toMs }) =>
      node === null
        ? []
        : derived('log-silent', { node, timeMs: fromMs }, `${node} logged nothing for ${formatSpan(toMs - fromMs)}`),
    ),
  ];
}

/** When a member was lost, at the end of what is certain: whoever recorded it knows best. */
function lossOf({ asOfMs, missingMs: uncertaintyMs, sinceMs }: MemberReport) {
  if (asOfMs !== null && uncertaintyMs !== undefined)
    return { timeMs: asOfMs + uncertaintyMs, fields: { uncertaintyMs } };
  return typeof sinceMs === 'number' ? { timeMs: Math.max(sinceMs, asOfMs ?? 0) } : undefined;
}

/** Warnings and errors of one kind may be many while all together are not. */
async function unusualPatterns(
  requests: IncidentRequests,
  { grid, all }: Overview,
  { fromMs, toMs }: IncidentRequest,
): Promise<Unusual[]> {
  const window: Window = { fromMs, toMs, beforeFromMs: grid.fromMs, nodeCount: 1 };
  const patterns = (await comparedPatterns(requests, window, 'WARN'))
    .filter(({ counts }) => counts.during >= PATTERN_RULE.minCount && counts.ratioBefore >= RISING_RATIO)
    .sort((a, b) => b.counts.ratioBefore - a.counts.ratioBefore)
    .slice(0, MAX_LOCATED);
  const found: Unusual[] = [];
  for (const pattern of patterns) {
    if (!requests.mayAsk('rates of patterns')) break;
    const range = { fromMs: grid.fromMs, toMs };
    const histogram = await requests.histogram(range, grid.bucketMs, patternFilter(pattern));
    const counted = new ComparedNodes([histogram]).histogramOf(histogram);
    found.push(...unusualStretches(counted, grid, PATTERN_RULE, all));
  }
  return found;
}

interface Found {
  overview: Overview;
  stretch: Stretch;
  request: IncidentRequest;
}

async function explain(requests: IncidentRequests, { overview, stretch, request }: Found): Promise<Incident> {
  const { events, all, grid } = overview;
  // The first records are often too few to make their part of the grid unusual.
  const fromMs = Math.floor(Math.max(stretch.fromMs - grid.bucketMs, request.fromMs));
  const toMs = Math.ceil(Math.min(Math.max(stretch.toMs, fromMs + grid.bucketMs), request.toMs));
  const beforeFromMs = Math.max(fromMs - BEFORE_MS, grid.fromMs);
  const window: Window = { fromMs, toMs, beforeFromMs, nodeCount: countNodes(all, beforeFromMs, toMs) };
  const patterns = await findPatterns(requests, window);
  const errors = mostSevere(patterns);
  // Where a pattern is not new, its first record is a usual one.
  const fresh = errors.filter(isFresh);
  const strongest = Math.max(0, ...errors.map((pattern) => patternScore(pattern, null)));
  const decisive = fresh.some((pattern) => patternScore(pattern, null) > DECISIVE_SCORE) ? fresh : errors;
  const first = decisive.reduce<Pattern | undefined>(
    (one, other) => ((other.firstMs ?? Infinity) < (one?.firstMs ?? Infinity) ? other : one),
    undefined,
  );
  const onsetMs = first?.firstMs ?? null;
  const affected = new Set(errors.flatMap((pattern) => patternNodes(pattern)));
  const nearMs = fromMs - BEFORE_MS;
  const near = events.filter(({ timeMs }) => timeMs >= nearMs && timeMs < toMs + AFTERMATH_MS);
  const earlier = events.filter(({ timeMs }) => timeMs < nearMs);
  const shown = near.filter(({ kind }) => !BY_OTHERS.has(kind));
  const occurrences = toOccurrences(shown);
  // Nodes that are killed one after another stand out once, and leave room for what kills them.
  const causes = toOccurrences(shown, { joinsKills: true });
  const history = near.some(({ kind }) => kind === 'config-changed') ? await requests.configHistory() : new Map();
  const found = await findValues(requests, window, patterns);
  const standouts = [
    ...causes.flatMap((one) => {
      const context = { onsetMs, affected, earlier, observers: mostObservers(causes) };
      return (one.timeMs < toMs && toEventStandout(one, context)) || [];
    }),
    ...patterns.map((pattern) =>
      toPatternStandout(pattern, { window, onsetMs, shares: tellingValues(pattern, found) }),
    ),
    ...found.values,
  ]
    .filter(({ score }) => score >= MIN_SCORE)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_STANDOUTS)
    .map((standout) => ({ ...standout, score: Math.round(standout.score * 10) / 10 }));
  const isOver = request.toMs - toMs > grid.bucketMs;
  return {
    headline: headline({ first, patterns: errors, occurrences, standouts }),
    isUnusual: true,
    ...{ lookedFromMs: request.fromMs, lookedToMs: request.toMs, fromMs, toMs, isOver },
    steps: toSteps({
      occurrences,
      patterns: patterns.filter((one) => {
        // Beside what is new, somewhat more of the usual is no step: its first record says nothing.
        const isSevere = isError(one) || one.level === 'WARN' || errors === patterns;
        return isSevere && (decisive === errors || isFresh(one) || patternScore(one, null) > strongest / 2);
      }),
      usualFields: found.usual,
      history,
      window,
    }),
    standouts,
    before: phase(overview, beforeFromMs, fromMs),
    during: phase(overview, fromMs, toMs),
    after: isOver ? phase(overview, toMs, request.toMs) : null,
    ...closing(requests, request),
  };
}

/** What the report counts itself, and what says nothing about an incident. */
const BY_OTHERS: ReadonlySet<EventKind> = new Set(['log-burst', 'new-pattern', 'log-rotated', 'recorder-stopped']);

/** Errors; if there are none, warnings; if there are none either, all. */
function mostSevere(patterns: readonly Pattern[]): readonly Pattern[] {
  const tiers = [patterns.filter(isError), patterns.filter(({ level }) => level === 'WARN'), patterns];
  return tiers.find((tier) => tier.length > 0) ?? [];
}

async function comparedPatterns(requests: IncidentRequests, window: Window, minLevel?: 'WARN'): Promise<Pattern[]> {
  const [during, before] = await Promise.all([
    requests.digest(window, minLevel),
    requests.digest({ fromMs: window.beforeFromMs, toMs: window.fromMs }, minLevel),
  ]);
  return comparePatterns(during, before, window);
}

/** The patterns that are more frequent than before, most unusual first, with their first records. */
async function findPatterns(requests: IncidentRequests, window: Window): Promise<Pattern[]> {
  const rising = (await comparedPatterns(requests, window))
    .filter((pattern) => pattern.counts.ratioBefore > 10.8 || (isError(pattern) && isFresh(pattern)))
    .sort((a, b) => patternScore(b, null) - patternScore(a, null))
    .slice(0, MAX_PATTERNS);
  const strongest = rising[0] ? patternScore(rising[0], null) : 0;
  const patterns = rising.filter((pattern) => pattern.level === 'FATAL' || patternScore(pattern, null) > strongest / 5);
  for (const pattern of patterns) {
    if (!requests.mayAsk('first records of patterns')) break;
    const found = await requests.first(window, patternFilter(pattern));
    pattern.first = found.filter(({ level = null }) => level === pattern.level);
    pattern.firstMs = pattern.first[0]?.atMs ?? pattern.firstMs;
  }
  await markNeverSeen(requests, window, patterns);
  return patterns;
}

/** Which of the patterns are not in any older record that is kept. */
async function markNeverSeen(requests: IncidentRequests, window: Window, patterns: readonly Pattern[]): Promise<void> {
  const isAsked = patterns.some((pattern) => isFresh(pattern) && pattern.level !== null);
  if (!isAsked || !requests.mayAsk('older records')) return;
  const { groups, baseline } = await requests.newGroups(window);
  if (!baseline?.isComplete) return;
  for (const pattern of patterns) {
    const group = groups.find(
      ({ level, source, shape }) => level === pattern.level && (source ?? shape) === pattern.name,
    );
    if (group) pattern.isNeverSeen = group.isNew;
  }
}

interface HeadlineFacts {
  /** The unusual pattern that was first. */
  first: Pattern | undefined;
  patterns: readonly Pattern[];
  occurrences: readonly Occurrence[];
  standouts: readonly Standout[];
}

/** New patterns that stand out less do not say when it began. */
const DECISIVE_SCORE = 30;

/** A change that stands out less is not named in the headline. */
const NAMED_SCORE = 40;

/** Facts only: what was first, where, and what happened before it. */
function headline({ first, patterns, occurrences, standouts }: HeadlineFacts): string {
  const onsetMs = first?.firstMs ?? null;
  const named = standouts.find(({ event, score }) => event !== null && score >= NAMED_SCORE);
  const change = occurrences.find(({ kind, timeMs }) => kind === named?.event && timeMs === named.timeMs);
  if (!first || onsetMs === null) {
    if (change) return occurrenceTitle(change);
    const [most] = standouts;
    return most ? most.title : 'More records than usual';
  }
  const [node = ''] = patternNodes(first);
  const alike = isFresh(first) ? patterns.filter(isFresh) : patterns;
  const affected = new Set(alike.flatMap((pattern) => patternNodes(pattern)));
  const what = isError(first) ? 'errors' : first.level === 'WARN' ? 'warnings' : 'records';
  const where = affected.size > 1 ? `${affected.size} nodes, first on ${node}` : node;
  const start = `${isFresh(first) ? 'New' : 'More'} ${what} on ${where}`;
  if (!change) return start;
  const before = change.events.filter(({ timeMs }) => timeMs <= onsetMs);
  // Of a rollout, when it came to this node.
  const own = before.filter((event) => subjectOf(event) === node);
  const times = (own.length > 0 ? own : before).map(({ timeMs }) => timeMs);
  if (times.length === 0) return `${start}; ${occurrenceTitle(change)}`;
  const isIts = change.nodes.length === 1 && change.nodes[0] === node;
  const text = isIts ? occurrenceText(change, 'its') : lowerFirst(occurrenceTitle(change));
  return `${start}, ${formatSpan(onsetMs - Math.max(...times))} after ${text}`;
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

function quiet(requests: IncidentRequests, overview: Overview, request: IncidentRequest): Incident {
  const { fromMs, toMs } = request;
  const during = phase(overview, fromMs, toMs);
  const near = overview.events.filter(({ timeMs }) => timeMs >= fromMs);
  const occurrences = toOccurrences(near.filter(({ kind }) => !BY_OTHERS.has(kind)));
  const window: Window = { fromMs, toMs, beforeFromMs: overview.grid.fromMs, nodeCount: during.nodes };
  const end = closing(requests, request);
  const claim = end.coverage.isComplete ? 'Nothing unusual' : 'Nothing unusual in what was read';
  const errors = `${perMinute(during.errors, toMs - fromMs)} errors a minute`;
  const nodes = during.nodes === 1 ? '1 node' : `${during.nodes} nodes`;
  const isUnread = during.records === 0 && end.members.every(({ outcome }) => outcome !== 'ok');
  const isUncompared = during.nodes === 0 && overview.cutNodes > 0;
  const unknown = isUnread
    ? 'What happened is not known: no node could be read'
    : 'What is unusual is not known: no node could count its records in the time allowed';
  return {
    headline:
      isUnread || isUncompared
        ? unknown
        : `${claim}: ${errors}; looked at ${countText(during.records)} records of ${nodes} and ${near.length} ${near.length === 1 ? 'event' : 'events'}`,
    isUnusual: false,
    ...{ lookedFromMs: fromMs, lookedToMs: toMs, fromMs: null, toMs: null, isOver: false },
    steps: toSteps({ occurrences, patterns: [], usualFields: new Set(), history: new Map(), window }),
    standouts: [],
    before: phase(overview, overview.grid.fromMs, fromMs),
    during,
    after: null,
    ...end,
  };
}

function closing(
  requests: IncidentRequests,
  { fromMs, toMs }: IncidentRequest,
): Pick<Incident, 'requests' | 'members' | 'coverage'> {
  const { missing, members, asked } = requests;
  const coverage: Coverage = { askedFromMs: fromMs, askedToMs: toMs, missing, isComplete: missing.length === 0 };
  return { requests: asked, members, coverage };
}

/** Buckets count where their middle is. */
function phase({ all, warnings, errors, grid }: Overview, fromMs: number, toMs: number): IncidentPhase {
  const inside = ({ buckets }: ClusterHistogram) =>
    buckets.filter(({ startMs }) => startMs + grid.bucketMs / 2 >= fromMs && startMs + grid.bucketMs / 2 < toMs);
  const count = (histogram: ClusterHistogram) =>
    inside(histogram).reduce((sum, { nodes }) => sum + Object.values(nodes).reduce((a, b) => a + b, 0), 0);
  const errorCount = count(errors);
  return {
    ...{ fromMs, toMs, records: count(all), errors: errorCount },
    warnings: Math.max(0, count(warnings) - errorCount),
    nodes: countNodes(all, fromMs, toMs),
  };
}

function countNodes(histogram: ClusterHistogram, fromMs: number, toMs: number): number {
  return nodeCounts(histogram, fromMs, toMs).size;
}

/** Records of each node that has any. */
function nodeCounts({ buckets, bucketMs }: ClusterHistogram, fromMs: number, toMs: number): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { startMs, nodes } of buckets)
    if (startMs + bucketMs > fromMs && startMs < toMs)
      for (const [node, count] of Object.entries(nodes)) sums.set(node, (sums.get(node) ?? 0) + count);
  return sums;
}
