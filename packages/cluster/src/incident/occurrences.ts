import { type EventKind, encodeSearch, PATHS, type Standout, type StandoutKind } from '@porthole/contract';
import type { ClusterEvent } from './incident-requests.ts';
import { nodesText, shortRecord } from './patterns.ts';

/** Something that happened: one event, or several of one cause. */
export interface Occurrence {
  /** The kind of its events that weighs most. */
  kind: EventKind;
  /** Oldest first. */
  events: ClusterEvent[];
  /** Whom it happened to: of a loss, not those who saw it. */
  nodes: string[];
  timeMs: number;
  keys: string[];
}

/**
 * How much a kind of event counts if it happened right before the first unusual error: what people and deployments change
 * counts most, then what the machine reports. 0: seen from the records themselves.
 */
const WEIGHTS: Readonly<Record<EventKind, number>> = {
  'config-changed': 1,
  'version-changed': 1,
  'clock-stepped': 0.95,
  'disk-nearly-full': 0.95,
  'certificate-expiring': 0.9,
  killed: 0.9,
  'service-killed': 0.9,
  'member-lost': 0.8,
  'service-started': 0.7,
  started: 0.7,
  'service-stopped': 0.6,
  stopped: 0.6,
  'log-silent': 0.6,
  'config-file-differs': 0.4,
  'member-left': 0.4,
  'member-joined': 0.3,
  'recorder-stopped': 0.2,
  'member-back': 0.2,
  'log-burst': 0,
  'new-pattern': 0,
  'log-rotated': 0,
};

const KINDS: Readonly<Partial<Record<EventKind, StandoutKind>>> = {
  'config-changed': 'change',
  'version-changed': 'change',
  'config-file-differs': 'change',
  started: 'restart',
  stopped: 'restart',
  killed: 'restart',
  'service-started': 'restart',
  'service-stopped': 'restart',
  'service-killed': 'restart',
};

/** What was new with a node after its restart; that it came back is no reason for anything. */
const BESIDE: Readonly<Partial<Record<EventKind, string>>> = {
  'config-changed': 'with another configuration',
  'version-changed': 'with another version',
};

/** These are noticed by checks at intervals, so that errors may come before them. */
const CONDITIONS: ReadonlySet<EventKind> = new Set(['disk-nearly-full', 'certificate-expiring', 'log-silent']);

const MEMBER_KINDS: ReadonlySet<EventKind> = new Set(['member-lost', 'member-back', 'member-joined', 'member-left']);

/** What happens to a node, and what others see of it, when it is restarted. */
const RESTARTS: ReadonlySet<EventKind> = new Set([
  ...(['started', 'stopped', 'killed', 'version-changed'] as const),
  ...(['service-started', 'service-stopped', 'service-killed'] as const),
  ...MEMBER_KINDS,
]);

/** After these a node is silent. */
export const ENDS: ReadonlySet<EventKind> = new Set([
  ...(['stopped', 'killed', 'member-left', 'member-lost', 'service-stopped', 'service-killed'] as const),
]);

/** A node that is restarted is back within this time. */
const RESTART_MS = 3 * 60_000;
/** The same on several nodes within this time is one rollout; what kills several does so at once. */
const ROLLOUT_MS = 20 * 60_000;
const AT_ONCE_MS = 3000;

/** A change counts fully if the first error came within this time, and half as much after each of the following. */
const PROMPT_MS = 5 * 60_000;
const HALF_MS = 15 * 60_000;

/** A configuration is compared every five seconds, so an error may be logged before the change is seen. */
const NOTICED_MS = 10_000;

/** What happened after the first error is more likely a consequence. */
const AFTERWARDS = 0.55;
/** On a node without unusual errors. */
const ELSEWHERE = 0.6;

/** The events as what happened to whom: seen by several it is once, a restart is one thing, and so is a rollout. */
export function toOccurrences(events: readonly ClusterEvent[], { joinsKills = false } = {}): Occurrence[] {
  const single: Occurrence[] = [];
  for (const event of events) {
    const known = single.findLast((one) => isSame(one, event));
    if (known) join(known, event);
    else {
      const { kind, timeMs } = event;
      single.push({ kind, timeMs, events: [event], nodes: [subjectOf(event)], keys: keysOf(event) });
    }
  }
  const rolled: Occurrence[] = [];
  for (const one of single) {
    const known = rolled.findLast((other) => isRollout(other, one, joinsKills));
    if (known) {
      known.events.push(...one.events);
      known.nodes = [...new Set([...known.nodes, ...one.nodes])];
    } else rolled.push(one);
  }
  return rolled;
}

function isSame({ events, nodes }: Occurrence, event: ClusterEvent): boolean {
  const last = events.at(-1);
  if (!last || nodes[0] !== subjectOf(event)) return false;
  // A restart begins with an end: one that comes after a start is another thing.
  if (ENDS.has(event.kind) && !events.some(({ kind }) => ENDS.has(kind))) return false;
  return isRestart(event) && isRestart(last) && event.timeMs - last.timeMs <= RESTART_MS;
}

function isRestart({ kind, fields }: ClusterEvent): boolean {
  return RESTARTS.has(kind) || (kind === 'config-changed' && fields.how === 'restart');
}

function join(known: Occurrence, event: ClusterEvent): void {
  known.events.push(event);
  known.keys = [...new Set([...known.keys, ...keysOf(event)])];
  if (WEIGHTS[event.kind] > WEIGHTS[known.kind]) known.kind = event.kind;
}

function isRollout(a: Occurrence, b: Occurrence, joinsKills: boolean): boolean {
  if (a.kind !== b.kind) return false;
  const isKill = !joinsKills && (a.kind === 'killed' || a.kind === 'service-killed');
  if (isKill ? b.timeMs - a.timeMs > AT_ONCE_MS : b.timeMs - (a.events.at(-1)?.timeMs ?? 0) > ROLLOUT_MS) return false;
  if (b.nodes.some((node) => a.nodes.includes(node))) return false;
  const change = ({ events, kind, keys }: Occurrence) => {
    const main = events.find((event) => event.kind === kind);
    const seenBy = MEMBER_KINDS.has(kind) ? observers(events) : null;
    return JSON.stringify([[...keys].sort(), kind === 'version-changed' ? main?.fields.version : null, seenBy]);
  };
  return change(a) === change(b);
}

/** Who has seen it. */
export function observers(events: readonly ClusterEvent[]): string[] {
  const named = events.flatMap(({ node, fields: { seenBy } }) => [
    node,
    ...(Array.isArray(seenBy) ? seenBy.map(String) : []),
  ]);
  return [...new Set(named)].sort();
}

/** Whom the event is about: of a loss, the member that was lost. */
export function subjectOf({ node, fields: { member } }: ClusterEvent): string {
  return typeof member === 'string' ? member : node;
}

function keysOf({ fields: { keys } }: ClusterEvent): string[] {
  return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
}

/** When it was so for certain, and how much earlier it may have happened: a kill is known by the last sign of life. */
export function intervalOf({ kind, timeMs, fields }: ClusterEvent): { timeMs: number; uncertaintyMs: number } {
  const given = Number(fields.uncertaintyMs);
  const uncertaintyMs = given > 0 && given < Number.MAX_SAFE_INTEGER ? Math.round(given) : 0;
  const isLastSign = kind === 'killed' && fields.member === undefined;
  return { timeMs: Math.round(timeMs) + (isLastSign ? uncertaintyMs : 0), uncertaintyMs };
}

/** `its storage.wal.dir changed`: what happened, as the second half of a sentence; `whose` is `its` or `the`. */
export function occurrenceText({ kind, events, keys, nodes }: Occurrence, whose = 'the'): string {
  const event = events.find((one) => one.kind === kind) ?? events[0];
  const { before, version, stepMs, usedPercent } = event?.fields ?? {};
  const who = whose === 'its' ? 'it' : nodesText(nodes);
  const were = nodes.length > 1 && whose !== 'its' ? 'were' : 'was';
  const times = events.filter((one) => one.kind === kind).length;
  switch (kind) {
    case 'config-changed':
      return keys.length === 0
        ? `${whose} configuration changed`
        : `${whose} ${keys[0]}${keys.length > 1 ? ` and ${keys.length - 1} more` : ''} changed`;
    case 'version-changed':
      return `${whose} version changed${before && version ? ` from ${before} to ${version}` : ''}`;
    case 'clock-stepped':
      return `${whose} clock was set ${Number(stepMs) < 0 ? 'back' : 'forward'} by ${Math.abs(Number(stepMs)) / 1000} s`;
    case 'disk-nearly-full':
      return `${whose} disk was ${usedPercent ?? 'nearly'}${usedPercent ? ' %' : ''} full`;
    case 'certificate-expiring':
      return event?.message.includes('has expired')
        ? `${whose} certificate expired`
        : `${whose} certificate was about to expire`;
    case 'killed':
      return `${who} ${were} killed${nodes.length === 1 && times > 1 ? ` ${times} times` : ''}`;
    case 'service-killed':
      return `${whose} service was killed`;
    case 'member-lost':
      return `${who} stopped responding`;
    case 'member-left':
    case 'stopped':
      return `${who} stopped`;
    case 'started':
      return events.some((one) => one.kind === 'stopped') ? `${who} restarted` : `${who} started`;
    case 'service-started':
      return `${whose} service ${events.some((one) => one.kind === 'service-stopped') ? 'restarted' : 'started'}`;
    case 'service-stopped':
      return `${whose} service stopped`;
    case 'log-silent':
      return `${whose} log fell silent`;
    case 'config-file-differs':
      return `${whose} configuration file was edited`;
    case 'member-joined':
      return `${who} joined`;
    case 'member-back':
      return `${who} responded again`;
    default:
      return event?.message ?? kind;
  }
}

interface EventContext {
  /** Time of the first unusual error; `null` if there is none. */
  onsetMs: number | null;
  /** Nodes with unusual errors. */
  affected: ReadonlySet<string>;
  /** The most nodes that have seen the same loss: one that few have seen may be theirs. */
  observers: number;
  /** Events of the day before. */
  earlier: readonly ClusterEvent[];
}

/** What stands out of what happened. */
export function toEventStandout(occurrence: Occurrence, context: EventContext): Standout | undefined {
  const { kind, events, nodes, keys, timeMs } = occurrence;
  const { onsetMs, affected, earlier } = context;
  const closeness = Math.max(...events.map((event) => proximity(kind, event, onsetMs)));
  const isHere = affected.size === 0 || nodes.some((node) => affected.has(node));
  const repeats = earlier.filter(
    (event) => event.kind === kind && nodes.includes(subjectOf(event)) && isAlike(event, keys),
  );
  const believed = MEMBER_KINDS.has(kind) ? observers(events).length / Math.max(1, context.observers) : 1;
  const score = (100 * WEIGHTS[kind] * believed * closeness * (isHere ? 1 : ELSEWHERE)) / (1 + repeats.length);
  if (score === 0) return undefined;
  const main = events.find((event) => event.kind === kind);
  const beside = new Set(events.flatMap((event) => (event.kind === kind ? [] : (BESIDE[event.kind] ?? []))));
  const often = repeats.length === 0 ? 'the only time in 24 h' : `also ${repeats.length} times in the 24 h before`;
  return {
    kind: KINDS[kind] ?? 'event',
    score,
    title: occurrenceTitle(occurrence),
    detail: [often, ...beside].join(' · '),
    nodes,
    timeMs,
    event: kind,
    keys,
    pattern: null,
    field: null,
    value: null,
    shares: [],
    record: main?.record ? shortRecord(main.record) : null,
    counts: null,
    paths: [eventPath(occurrence)],
  };
}

/** `storage.wal.dir changed on storage-3`, `Version changed from 1 to 2 on storage-3`, `storage-3 was killed`. */
export function occurrenceTitle(occurrence: Occurrence): string {
  const text = occurrenceText(occurrence, '').trim();
  const who = nodesText(occurrence.nodes);
  if (text.startsWith(who)) return text;
  // Keys of settings are as they are.
  const isName = occurrence.kind === 'config-changed' && occurrence.keys.length > 0;
  return `${isName ? text : text.charAt(0).toUpperCase() + text.slice(1)} on ${who}`;
}

function isAlike(event: ClusterEvent, keys: readonly string[]): boolean {
  return keys.length === 0 || keysOf(event).some((key) => keys.includes(key));
}

/** From 0 to 1: how close it was before the first error. */
function proximity(kind: EventKind, { timeMs, fields }: ClusterEvent, onsetMs: number | null): number {
  if (onsetMs === null) return 1;
  const beforeMs = onsetMs - timeMs;
  if (CONDITIONS.has(kind) && beforeMs < 0) return 0.9;
  const decay = 0.5 ** (Math.max(0, Math.abs(beforeMs) - PROMPT_MS) / HALF_MS);
  // By a clock that was set, it happened at either of two times.
  const noticedMs = NOTICED_MS + (kind === 'clock-stepped' ? Math.abs(Number(fields.stepMs) || 0) : 0);
  return beforeMs >= -noticedMs ? decay : AFTERWARDS * decay;
}

/** The request that shows the events. */
export function eventPath({ events, kind, timeMs }: Occurrence): string {
  const fromMs = Math.floor(events[0]?.timeMs ?? timeMs);
  const toMs = Math.ceil(events.at(-1)?.timeMs ?? timeMs) + 1;
  const query = encodeSearch({ nodes: ['*'], fromMs, toMs });
  query.set('kind', kind);
  return `${PATHS.events}?${query}`;
}

/** The most nodes that have seen one of these. */
export function mostObservers(occurrences: readonly Occurrence[]): number {
  return Math.max(1, ...occurrences.map(({ kind, events }) => (MEMBER_KINDS.has(kind) ? observers(events).length : 1)));
}
