import {
  type ClusterHistogram,
  type Coverage,
  EVENT_LEVELS,
  formatSpan,
  type Incident,
  type IncidentPhase,
  type IncidentRequest,
  type MemberReport,
  type SharedValue,
  type Standout,
} from '@porthole/contract';
import {
  type ClusterEvent,
  type IncidentOptions,
  IncidentQuestions,
  type IncidentSource,
} from './incident-questions.ts';
import {
  mostObservers,
  type Occurrence,
  occurrenceText,
  occurrenceTitle,
  toEventStandout,
  toOccurrences,
} from './occurrences.ts';
import {
  comparePatterns,
  countText,
  isError,
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
  VOLUME_RULE,
  WARNING_RULE,
} from './unusual-stretch.ts';
import { commonValues, findValues, tellingValues, valueQuery } from './values.ts';

/** What an incident is compared with: somewhat more than an hour, so that what is done every hour is in it. */
const BEFORE_MS = 75 * 60_000;
const DAY_MS = 86_400_000;

/** Enough buckets to see when it began; what is shorter is not told apart. */
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

/** Patterns whose first records are looked at, in the order of their scores. */
const MAX_PATTERNS = 8;

/** Rising patterns that are looked at over time if no rate of all records is unusual, and from which G² on. */
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
  const questions = new IncidentQuestions(source, request, options);
  const overview = await lookOver(questions, request);
  const unusual = findUnusual(overview, questions.members, request);
  const stretch = heaviestStretch(unusual.length > 0 ? unusual : await unusualPatterns(questions, overview, request));
  if (!stretch) return quiet(questions, overview, request);
  return explain(questions, { overview, stretch, request });
}

async function lookOver(questions: IncidentQuestions, { fromMs, toMs }: IncidentRequest): Promise<Overview> {
  const rangeMs = toMs - fromMs;
  const bucketMs = Math.max(MIN_BUCKET_MS, Math.ceil(rangeMs / BUCKETS / 1000) * 1000);
  const most = Math.ceil(Math.max(BEFORE_MS, rangeMs / 4) / bucketMs);
  const startMs = (Math.floor(fromMs / bucketMs) - most) * bucketMs;
  const range = { fromMs: startMs, toMs };
  const [all, warnings, errors, events] = await Promise.all([
    questions.histogram(range, bucketMs),
    questions.histogram(range, bucketMs, { minLevel: 'WARN' }),
    questions.histogram(range, bucketMs, { minLevel: 'ERROR' }),
    questions.events({ fromMs: fromMs - DAY_MS, toMs }),
  ]);
  // A time of which no log is left is not a quiet one.
  const unknown = Math.floor(((all.buckets[0]?.startMs ?? startMs) - startMs) / bucketMs);
  const skipped = unknown <= most - MIN_USUAL_BUCKETS ? Math.max(0, unknown) : 0;
  const usual = most - skipped;
  const gridMs = startMs + skipped * bucketMs;
  const known = nodeCounts(all, gridMs, gridMs + usual * bucketMs);
  const isNew = (node: string) => (known.get(node) ?? 0) < MIN_KNOWN;
  const total = Math.ceil((toMs - gridMs) / bucketMs);
  return { all, warnings, errors, events, grid: { fromMs: gridMs, bucketMs, usual, total, isNew } };
}

/** Unusual rates, and events that are never usual. */
function findUnusual(
  overview: Overview,
  members: readonly MemberReport[],
  { fromMs, toMs }: IncidentRequest,
): Unusual[] {
  const { all, warnings, errors, events, grid } = overview;
  const recent = events.filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs);
  // What a burst or a stop is, the counts tell; the others are known from events only.
  const severe = recent.filter(
    ({ kind }) => EVENT_LEVELS[kind] === 'ERROR' && kind !== 'log-burst' && kind !== 'recorder-stopped',
  );
  const complete = members.filter(({ outcome, isPartial }) => outcome === 'ok' && !isPartial).map(({ id }) => id);
  const stopped = recent.filter(
    ({ kind }) => kind === 'stopped' || kind === 'member-left' || kind === 'service-stopped',
  );
  return [
    ...unusualStretches(errors, grid, ERROR_RULE, all),
    ...unusualStretches(warnings, grid, WARNING_RULE, all),
    ...unusualStretches(all, grid, VOLUME_RULE),
    ...silentStretches(all, grid, complete).filter(
      ({ node, fromMs: silentMs }) =>
        !stopped.some((event) => event.node === node && Math.abs(event.timeMs - silentMs) < 2 * grid.bucketMs + 10_000),
    ),
    ...severe.map(({ timeMs, node }) => ({ fromMs: timeMs, toMs: timeMs + 1, node, weight: EVENT_WEIGHT })),
    ...lostMembers(members, fromMs, toMs),
  ];
}

/** Warnings and errors of one kind may be many while all together are not. */
async function unusualPatterns(
  questions: IncidentQuestions,
  { grid, all }: Overview,
  { fromMs, toMs }: IncidentRequest,
): Promise<Unusual[]> {
  const window: Window = { fromMs, toMs, beforeFromMs: grid.fromMs, nodeCount: 1 };
  const patterns = (await comparedPatterns(questions, window, { minLevel: 'WARN' }))
    .filter(({ counts }) => counts.during >= PATTERN_RULE.minCount && counts.ratioBefore >= RISING_RATIO)
    .sort((a, b) => b.counts.ratioBefore - a.counts.ratioBefore)
    .slice(0, MAX_LOCATED);
  const found: Unusual[] = [];
  for (const pattern of patterns) {
    if (!questions.hasTime) break;
    const range = { fromMs: grid.fromMs, toMs };
    const histogram = await questions.histogram(range, grid.bucketMs, patternFilter(pattern));
    found.push(...unusualStretches(histogram, grid, PATTERN_RULE, all));
  }
  return found;
}

/** Members that are known to be gone since a time in the range, where nobody wrote an event. */
function lostMembers(members: readonly MemberReport[], fromMs: number, toMs: number): Unusual[] {
  return members.flatMap(({ id, state, sinceMs }) => {
    const isLost = state === 'failed' || state === 'unreachable';
    if (!isLost || typeof sinceMs !== 'number' || sinceMs < fromMs || sinceMs >= toMs) return [];
    return [{ fromMs: sinceMs, toMs: sinceMs + 1, node: id, weight: EVENT_WEIGHT }];
  });
}

/** The same as occurrences: nobody has seen when it happened. */
function unseenLosses(
  members: readonly MemberReport[],
  events: readonly ClusterEvent[],
  { beforeFromMs, toMs }: Window,
): Occurrence[] {
  const seen = new Set(
    events.flatMap(({ kind, node, fields }) =>
      kind === 'member-lost' ? [fields.member] : kind === 'killed' ? [node] : [],
    ),
  );
  return lostMembers(members, beforeFromMs, toMs).flatMap(({ node, fromMs }) =>
    node === null || seen.has(node)
      ? []
      : [{ kind: 'member-lost', events: [], nodes: [node], timeMs: fromMs, keys: [] }],
  );
}

interface Found {
  overview: Overview;
  stretch: Stretch;
  request: IncidentRequest;
}

async function explain(questions: IncidentQuestions, { overview, stretch, request }: Found): Promise<Incident> {
  const { events, all, grid } = overview;
  const fromMs = Math.floor(Math.max(stretch.fromMs, request.fromMs));
  const toMs = Math.ceil(Math.min(Math.max(stretch.toMs, fromMs + grid.bucketMs), request.toMs));
  const beforeFromMs = Math.max(fromMs - BEFORE_MS, grid.fromMs);
  const window: Window = { fromMs, toMs, beforeFromMs, nodeCount: countNodes(all, beforeFromMs, toMs) };
  const patterns = await findPatterns(questions, window);
  const errors = mostSevere(patterns);
  // Where a pattern is not new, its first record is a usual one.
  const fresh = errors.filter(({ counts }) => counts.before === 0);
  const telling = fresh.some((pattern) => patternScore(pattern, null) > TELLING_PATTERN) ? fresh : errors;
  const first = telling.reduce<Pattern | undefined>(
    (one, other) => ((other.firstMs ?? Infinity) < (one?.firstMs ?? Infinity) ? other : one),
    undefined,
  );
  const onsetMs = first?.firstMs ?? null;
  const affected = new Set(errors.flatMap((pattern) => patternNodes(pattern)));
  const nearMs = fromMs - BEFORE_MS;
  const near = events.filter(({ timeMs }) => timeMs >= nearMs && timeMs < toMs + AFTERMATH_MS);
  const earlier = events.filter(({ timeMs }) => timeMs < nearMs);
  const occurrences = [
    ...toOccurrences(near).filter(({ kind }) => !SEEN_BY_COUNTS.has(kind)),
    ...unseenLosses(questions.members, near, window),
  ];
  const history = near.some(({ kind }) => kind === 'config-changed') ? await questions.configHistory() : new Map();
  const values = await findValues(questions, window, patterns);
  const shared = await findShared(questions, window, patterns);
  const standouts = [
    ...occurrences.flatMap((one) => {
      const context = { onsetMs, affected, earlier, observers: mostObservers(occurrences) };
      return (one.timeMs < toMs && toEventStandout(one, context)) || [];
    }),
    ...patterns.map((pattern) =>
      toPatternStandout(pattern, { window, onsetMs, shares: tellingValues(pattern, values) }),
    ),
    ...values,
    ...silentStandouts(overview, questions.members, window),
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
      patterns: patterns.filter((one) => isError(one) || one.level === 'WARN' || errors === patterns),
      shared,
      history,
      window,
    }),
    standouts,
    before: phase(overview, beforeFromMs, fromMs),
    during: phase(overview, fromMs, toMs),
    after: isOver ? phase(overview, toMs, request.toMs) : null,
    ...closing(questions, request),
  };
}

/** Events of what the report counts itself, and those that say nothing about an incident. */
const SEEN_BY_COUNTS: ReadonlySet<string> = new Set(['log-burst', 'new-pattern', 'log-rotated']);

/** Errors; if there are none, warnings; if there are none either, all. */
function mostSevere(patterns: readonly Pattern[]): readonly Pattern[] {
  const tiers = [patterns.filter(isError), patterns.filter(({ level }) => level === 'WARN'), patterns];
  return tiers.find((tier) => tier.length > 0) ?? [];
}

async function comparedPatterns(
  questions: IncidentQuestions,
  window: Window,
  filter: { minLevel?: 'WARN' } = {},
): Promise<Pattern[]> {
  const [during, before] = await Promise.all([
    questions.digest(window, filter),
    questions.digest({ fromMs: window.beforeFromMs, toMs: window.fromMs }, filter),
  ]);
  return comparePatterns(during, before, window);
}

/** The patterns that are more frequent than before, most unusual first, with their first records. */
async function findPatterns(questions: IncidentQuestions, window: Window): Promise<Pattern[]> {
  const rising = (await comparedPatterns(questions, window))
    .filter((pattern) => pattern.counts.ratioBefore > 10.8 || (isError(pattern) && pattern.counts.before === 0))
    .sort((a, b) => patternScore(b, null) - patternScore(a, null))
    .slice(0, MAX_PATTERNS);
  const strongest = rising[0] ? patternScore(rising[0], null) : 0;
  const patterns = rising.filter((pattern) => pattern.level === 'FATAL' || patternScore(pattern, null) > strongest / 5);
  for (const pattern of patterns) {
    if (!questions.hasTime) break;
    const found = await questions.first(window, patternFilter(pattern));
    pattern.first = found.filter(({ level = null }) => level === pattern.level);
    pattern.firstMs = pattern.first[0]?.atMs ?? pattern.firstMs;
  }
  await markNeverSeen(questions, window, patterns);
  return patterns;
}

/** Which of the patterns are not in any older record that is kept. */
async function markNeverSeen(
  questions: IncidentQuestions,
  window: Window,
  patterns: readonly Pattern[],
): Promise<void> {
  const isAsked = patterns.some((pattern) => pattern.counts.before === 0 && pattern.level !== null);
  if (!isAsked || !questions.hasTime) return;
  const { groups, baseline } = await questions.digest(window, { minLevel: 'WARN', newSinceMs: window.fromMs });
  if (!baseline?.isComplete) return;
  for (const pattern of patterns) {
    const group = groups.find(
      ({ level, source, shape }) => level === pattern.level && (source ?? shape) === pattern.name,
    );
    if (group) pattern.isNeverSeen = group.isNew;
  }
}

/** Values that records of several patterns have in common, counted in all of their records. */
async function findShared(
  questions: IncidentQuestions,
  window: Window,
  patterns: readonly Pattern[],
): Promise<Map<Pattern, SharedValue[]>> {
  const having = new Map<string, { field: string; value: string; patterns: Pattern[] }>();
  for (const pattern of patterns)
    for (const { field, value } of commonValues(pattern.first, 0.8)) {
      const key = JSON.stringify([field, value]);
      const known = having.get(key) ?? { field, value, patterns: [] };
      known.patterns.push(pattern);
      having.set(key, known);
    }
  const shared = new Map<Pattern, SharedValue[]>();
  const several = [...having.values()].filter((one) => one.patterns.length > 1);
  for (const { field, value, patterns: own } of several
    .sort((a, b) => b.patterns.length - a.patterns.length)
    .slice(0, 2)) {
    if (!questions.hasTime) break;
    const { groups } = await questions.digest(window, { query: valueQuery({ field, value }) });
    for (const pattern of own) {
      const group = groups.find(
        ({ level, source, shape }) => level === pattern.level && (source ?? shape) === pattern.name,
      );
      if (!group) continue;
      const { during } = pattern.counts;
      const found = { field, value, count: Math.min(group.count, during), of: during };
      shared.set(pattern, [...(shared.get(pattern) ?? []), found]);
    }
  }
  return shared;
}

function silentStandouts({ all, grid }: Overview, members: readonly MemberReport[], window: Window): Standout[] {
  const complete = members.filter(({ outcome, isPartial }) => outcome === 'ok' && !isPartial).map(({ id }) => id);
  return silentStretches(all, grid, complete).flatMap(({ node, fromMs, toMs }) => {
    if (node === null || fromMs < window.fromMs - grid.bucketMs || fromMs >= window.toMs) return [];
    return [
      {
        kind: 'silence' as const,
        score: 60,
        title: `${node} logged nothing`,
        detail: `for ${formatSpan(toMs - fromMs)}`,
        nodes: [node],
        timeMs: fromMs,
        ...{
          event: 'log-silent' as const,
          keys: [],
          pattern: null,
          field: null,
          value: null,
          counts: null,
          paths: [],
          shares: [],
          record: null,
        },
      },
    ];
  });
}

interface HeadlineFacts {
  /** The unusual pattern that was first. */
  first: Pattern | undefined;
  patterns: readonly Pattern[];
  occurrences: readonly Occurrence[];
  standouts: readonly Standout[];
}

/** New patterns that stand out less do not say when it began. */
const TELLING_PATTERN = 30;

/** A change that stands out less is not named in the headline. */
const TELLING_SCORE = 40;

/** Facts only: what was first, where, and what happened before it. */
function headline({ first, patterns, occurrences, standouts }: HeadlineFacts): string {
  const onsetMs = first?.firstMs ?? null;
  const told = standouts.find(({ event, score }) => event !== null && score >= TELLING_SCORE);
  const change = occurrences.find(({ kind, timeMs }) => kind === told?.event && timeMs === told.timeMs);
  if (!first || onsetMs === null) {
    if (change) return occurrenceTitle(change);
    const [most] = standouts;
    return most ? most.title : 'More records than usual';
  }
  const [node = ''] = patternNodes(first);
  const affected = new Set(patterns.flatMap((pattern) => patternNodes(pattern)));
  const what = isError(first) ? 'errors' : first.level === 'WARN' ? 'warnings' : 'records';
  const where = affected.size > 1 ? `${affected.size} nodes, first on ${node}` : node;
  const start = `${first.counts.before === 0 ? 'New' : 'More'} ${what} on ${where}`;
  if (!change) return start;
  const times = change.events.map(({ timeMs }) => timeMs).filter((timeMs) => timeMs <= onsetMs);
  if (times.length === 0) return `${start}; ${occurrenceTitle(change)}`;
  const isIts = change.nodes.length === 1 && change.nodes[0] === node;
  const text = isIts ? occurrenceText(change, 'its') : lowerFirst(occurrenceTitle(change));
  return `${start}, ${formatSpan(onsetMs - Math.max(...times))} after ${text}`;
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

function quiet(questions: IncidentQuestions, overview: Overview, request: IncidentRequest): Incident {
  const { fromMs, toMs } = request;
  const during = phase(overview, fromMs, toMs);
  const near = overview.events.filter(({ timeMs }) => timeMs >= fromMs);
  const occurrences = toOccurrences(near).filter(({ kind }) => !SEEN_BY_COUNTS.has(kind));
  const window: Window = { fromMs, toMs, beforeFromMs: overview.grid.fromMs, nodeCount: during.nodes };
  const end = closing(questions, request);
  const claim = end.coverage.isComplete ? 'Nothing unusual' : 'Nothing unusual in what was read';
  const errors = `${perMinute(during.errors, toMs - fromMs)} errors a minute`;
  const nodes = during.nodes === 1 ? '1 node' : `${during.nodes} nodes`;
  return {
    headline: `${claim}: ${errors}; looked at ${countText(during.records)} records of ${nodes} and ${near.length} ${near.length === 1 ? 'event' : 'events'}`,
    isUnusual: false,
    ...{ lookedFromMs: fromMs, lookedToMs: toMs, fromMs: null, toMs: null, isOver: false },
    steps: toSteps({ occurrences, patterns: [], shared: new Map(), history: new Map(), window }),
    standouts: [],
    before: phase(overview, overview.grid.fromMs, fromMs),
    during,
    after: null,
    ...end,
  };
}

function closing(
  questions: IncidentQuestions,
  { fromMs, toMs }: IncidentRequest,
): Pick<Incident, 'requests' | 'members' | 'coverage'> {
  const { missing, members, asked } = questions;
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
