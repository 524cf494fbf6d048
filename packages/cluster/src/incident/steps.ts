import {
  type ConfigPeriod,
  encodeSearch,
  formatSpan,
  type IncidentStep,
  PATHS,
  type StepChange,
} from '@porthole/contract';
import type { ClusterEvent } from './incident-requests.ts';
import { ENDS, eventPath, intervalOf, type Occurrence, observers, occurrenceTitle, subjectOf } from './occurrences.ts';
import {
  countText,
  isError,
  isFresh,
  nodesText,
  type Pattern,
  patternFilter,
  patternNodes,
  patternText,
  rateText,
  shortRecord,
  type Window,
} from './patterns.ts';
import { sharedValues } from './values.ts';

/** More would be a log, not a summary. */
const MAX_STEPS = 40;

type Undelayed = Omit<IncidentStep, 'delayMs'>;

export interface StepsInput {
  occurrences: readonly Occurrence[];
  /** Unusual patterns with their first records. */
  patterns: readonly Pattern[];
  /** Fields of which no value stands out. */
  usualFields: ReadonlySet<string>;
  history: ReadonlyMap<string, readonly ConfigPeriod[]>;
  window: Window;
}

/** What happened, in the order of time. */
export function toSteps({ occurrences, patterns, usualFields, history, window }: StepsInput): IncidentStep[] {
  const steps = [
    ...occurrences.map((occurrence) => occurrenceStep(occurrence, history)),
    ...patternSteps(patterns, { usualFields, window }),
  ].sort((a, b) => a.timeMs - b.timeMs);
  const firstMs = steps[0]?.timeMs ?? 0;
  return steps.slice(0, MAX_STEPS).map((step) => ({ ...step, delayMs: step.timeMs - firstMs }));
}

function occurrenceStep(occurrence: Occurrence, history: StepsInput['history']): Undelayed {
  const { kind, events, nodes } = occurrence;
  const main = events.find((event) => event.kind === kind) ?? events[0];
  const named = events.flatMap(({ fields }) => (Array.isArray(fields.seenBy) ? fields.seenBy.map(String) : []));
  const seenBy = [...new Set([...named, ...observers(events)])].filter((node) => !nodes.includes(node));
  const others = events.filter((event) => event !== main && event.kind !== kind);
  const phrases = [...(main ? [main] : []), ...others].map((event) => addition(event, occurrence));
  const seen = seenBy.length > 0 ? `seen by ${seenBy.join(', ')}` : '';
  const detail = [...new Set([...phrases, ...rollout(occurrence), seen])].filter(Boolean);
  return {
    kind,
    ...(main ? intervalOf(main) : { timeMs: Math.round(occurrence.timeMs), uncertaintyMs: 0 }),
    nodes,
    title: occurrenceTitle(occurrence),
    detail: detail.join(' · '),
    changes: events.flatMap((event) => (event.kind === 'config-changed' ? changesOf(event, history) : [])),
    record: main?.record ? shortRecord(main.record) : null,
    shares: [],
    path: eventPath(occurrence),
  };
}

/** Under this, what happened to several nodes happened at once. */
const AT_ONCE_MS = 1000;

/** On which nodes it happened later. */
function rollout({ kind, events, nodes }: Occurrence): string[] {
  const times = nodes.map((node) => events.find((event) => event.kind === kind && subjectOf(event) === node)?.timeMs);
  const known = times.filter((timeMs) => timeMs !== undefined);
  return Math.max(...known) - Math.min(...known) < AT_ONCE_MS ? [] : thenOn(nodes, times);
}

/** `then on storage-1 (+2 s), storage-2 (+4 s) and 3 more`. */
function thenOn(nodes: readonly string[], [startMs, ...times]: readonly (number | undefined)[]): string[] {
  const then = nodes.slice(1, 4).map((node, index) => {
    const own = times[index];
    return own === undefined || startMs === undefined ? node : `${node} (+${formatSpan(own - startMs)})`;
  });
  const more = nodes.length - 1 - then.length;
  return then.length === 0 ? [] : [`then on ${then.join(', ')}${more > 0 ? ` and ${more} more` : ''}`];
}

/** What an event adds to the title of its step, and to what the step shows beside it. */
function addition({ kind, message, fields, timeMs }: ClusterEvent, { events, nodes }: Occurrence): string {
  const { seenBy, version, keys } = fields;
  if (kind === 'config-changed' && Array.isArray(keys) && keys.length > 0) return '';
  const end = events.find((event) => ENDS.has(event.kind));
  if (end && nodes.length === 1 && kind === 'started')
    return `back after ${formatSpan(timeMs - end.timeMs)}${typeof version === 'string' ? `, version ${version}` : ''}`;
  // The node itself says when it started.
  if (kind === 'member-back' && events.some((event) => event.kind === 'started')) return '';
  // An event that several have seen says so itself; in a step, all of them say it once.
  const seen = Array.isArray(seenBy) ? message.replace(` (seen by ${seenBy.join(', ')})`, '') : message;
  // A loss is of both: what others saw, and what the node found when it was back. The title has said that it is gone.
  const gone = ['the node ended without stopping: ', ...nodes.map((node) => `${node} was lost: `)];
  return seen
    .split('; ')
    .map((part) => part.slice(gone.find((start) => part.startsWith(start))?.length ?? 0))
    .join(' · ');
}

/** The values are those of the version that the event names. */
function changesOf({ node, fields }: Occurrence['events'][number], history: StepsInput['history']): StepChange[] {
  const keys = Array.isArray(fields.keys) ? fields.keys.map(String) : [];
  const known = history.get(node)?.find(({ version }) => version === fields.config)?.changes ?? [];
  return keys.map((key) => {
    const change = known.find((one) => one.key === key);
    return change ? { key, before: change.before, after: change.after } : { key };
  });
}

/** The first record of each pattern. The nodes that had none before are where it spread. */
function patternSteps(
  patterns: readonly Pattern[],
  { usualFields, window }: Pick<StepsInput, 'usualFields' | 'window'>,
): Undelayed[] {
  const shared = sharedValues(patterns, usualFields);
  const reached = new Set<string>();
  return patterns
    .flatMap((pattern) => (pattern.firstMs === null ? [] : [{ pattern, timeMs: pattern.firstMs }]))
    .sort((a, b) => a.timeMs - b.timeMs)
    .map(({ pattern, timeMs }, index): Undelayed => {
      const nodes = patternNodes(pattern);
      const fresh = nodes.filter((node) => !reached.has(node));
      for (const node of nodes) reached.add(node);
      const kind = index === 0 ? 'first-error' : fresh.length > 0 ? 'spread' : 'new-pattern';
      const shares = shared.get(pattern) ?? [];
      const first = pattern.first[0];
      return {
        kind,
        timeMs: Math.round(timeMs),
        uncertaintyMs: 0,
        nodes: kind === 'spread' ? fresh : nodes,
        title: patternTitle(pattern, { kind, nodes, fresh, isShared: shares.length > 0 }),
        detail: patternDetail(pattern, nodes),
        changes: [],
        record: shortRecord(first ?? pattern.sample),
        shares,
        path: searchPath(pattern, window),
      };
    });
}

interface TitleFacts {
  kind: 'first-error' | 'spread' | 'new-pattern';
  nodes: readonly string[];
  fresh: readonly string[];
  isShared: boolean;
}

function patternTitle(pattern: Pattern, { kind, nodes, fresh, isShared }: TitleFacts): string {
  const { isNeverSeen } = pattern;
  const what = isError(pattern) ? 'error' : pattern.level === 'WARN' ? 'warning' : 'message';
  if (kind === 'spread') {
    const where = nodesText(fresh);
    return isShared ? `It spread to ${where}` : `${isFresh(pattern) ? 'New' : 'More'} ${what}s on ${where}, too`;
  }
  const [first = ''] = nodes;
  if (!isFresh(pattern)) return `More ${what}s on ${first}: ${patternText(pattern)}`;
  const never = isNeverSeen === true ? 'a pattern never seen before' : 'a pattern that was not there before';
  return kind === 'first-error' ? `First new ${what}, on ${first}: ${never}` : `Another new ${what} on ${first}`;
}

/** `wal.go:211 · 1,204 records, 0 → 240 a minute · then on storage-1 (+2 s)`. */
function patternDetail(pattern: Pattern, nodes: readonly string[]): string {
  const { counts, first } = pattern;
  const times = nodes.map((node) => first.find((record) => record.node === node)?.atMs);
  const where = thenOn(nodes, times);
  const total = `${countText(counts.during)} record${counts.during === 1 ? '' : 's'}, ${rateText(counts)}`;
  return [patternText(pattern), total, ...where].join(' · ');
}

function searchPath(pattern: Pattern, { fromMs, toMs }: Window): string {
  const query = encodeSearch({ nodes: ['*'], ...patternFilter(pattern), fromMs, toMs, order: 'oldest' });
  return `${PATHS.logSearch}?${query}`;
}
