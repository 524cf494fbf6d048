import type { ClusterRecord } from '@porthole/client';
import {
  type ClusterConfigHistory,
  type EventKind,
  type NodeEvent,
  toEvent,
  type VersionChange,
} from '@porthole/contract';
import { byText } from '../state/labels.ts';
import { INCIDENTS, type IncidentsView } from '../state/view.ts';
import { formatCounted, formatSpan, showValue } from '../ui/format.ts';
import type { IconName } from '../ui/icon.tsx';

/* Events as pages show them: about which node, in a few words, with a sign. */

export interface ShownEvent {
  key: string;
  kind: EventKind;
  timeMs: number;
  /** The node it is about: another one may have reported it. */
  node: string;
  /** What happened, after the name of the node: `stopped responding`. */
  title: string;
  detail: string | null;
  icon: IconName;
  tone: 'err' | 'warn' | 'accent' | null;
  fields: NodeEvent['fields'];
}

export interface KindStyle {
  icon: IconName;
  tone: ShownEvent['tone'];
  title: string;
}

export const STYLES: Readonly<Record<EventKind, KindStyle>> = {
  started: { icon: 'restart', tone: null, title: 'started' },
  stopped: { icon: 'gone', tone: null, title: 'stopped' },
  killed: { icon: 'gone', tone: 'err', title: 'was killed' },
  'version-changed': { icon: 'restart', tone: 'accent', title: 'runs another version' },
  'config-changed': { icon: 'config', tone: 'accent', title: 'configuration changed' },
  'config-file-differs': { icon: 'config', tone: 'warn', title: 'configuration file edited, not loaded' },
  'log-rotated': { icon: 'file', tone: null, title: 'log rotated' },
  'log-silent': { icon: 'silent', tone: 'warn', title: 'log fell silent' },
  'log-burst': { icon: 'rise', tone: 'err', title: 'errors rose' },
  'new-pattern': { icon: 'flame', tone: 'err', title: 'logged a new error' },
  'clock-stepped': { icon: 'clock', tone: 'warn', title: 'clock stepped' },
  'disk-nearly-full': { icon: 'disk', tone: 'err', title: 'disk nearly full' },
  'certificate-expiring': { icon: 'certificate', tone: 'warn', title: 'certificate expires soon' },
  'service-started': { icon: 'restart', tone: null, title: 'service started' },
  'service-stopped': { icon: 'gone', tone: null, title: 'service stopped' },
  'service-killed': { icon: 'gone', tone: 'err', title: 'service was killed' },
  'member-joined': { icon: 'joined', tone: null, title: 'joined' },
  'member-left': { icon: 'gone', tone: null, title: 'left' },
  'member-lost': { icon: 'gone', tone: 'err', title: 'stopped responding' },
  'member-back': { icon: 'restart', tone: null, title: 'is back' },
  'recorder-stopped': { icon: 'alert', tone: 'err', title: 'stopped recording' },
};

/** More changes of one configuration are a count. */
const MAX_CHANGES = 3;

/** What is shown around an event: what led to it, and what came of it. */
const BEFORE_MS = 5 * 60_000;
const AFTER_MS = 10 * 60_000;

/** What happens all the time, or is told by other events. */
const HIDDEN: readonly EventKind[] = ['log-rotated', 'member-joined'];

/** A restart is seen by others a little before and after it is over. */
const AROUND_MS = 30_000;

/** What a node finds when it starts. */
const START_MS = 1000;

/** A longer absence is no restart. */
const AWAY_MS = 10 * 60_000;

/** A burst and the new error it is made of. */
const BURST_MS = 120_000;

/** Records of events, newest first, as what happened: a restart is one event, however many nodes saw parts of it. */
export function shownEvents(records: readonly ClusterRecord[]): ShownEvent[] {
  const known = records.flatMap((record) => toShown(record) ?? []).filter(({ kind }) => !HIDDEN.includes(kind));
  const all = known.map((event) => ownReturn(event, known) ?? event);
  const backs = all.filter(({ kind }) => kind === 'member-back');
  const bursts = all.filter(({ kind }) => kind === 'log-burst');
  const parts = new Map(backs.map((back) => [back, all.filter((event) => isPartOfReturn(event, back))]));
  return all
    .filter((event) => ![...parts.values()].some((own) => own.includes(event)))
    .filter((event) => !isOfBurst(event, bursts) && !isSeenEnd(event, all))
    .map((event) => ({ ...event, ...returnText(event, parts.get(event) ?? []) }))
    .sort((a, b) => b.timeMs - a.timeMs);
}

/** A start after an end of the same node that no other node has seen. */
function ownReturn(event: ShownEvent, known: readonly ShownEvent[]): ShownEvent | undefined {
  const { kind, node, timeMs } = event;
  if (kind !== 'started' || known.some((back) => back.kind === 'member-back' && isPartOfReturn(event, back)))
    return undefined;
  const awayMs = Math.min(
    ...known
      .filter((end) => end.node === node && /^(stopped|killed)$/.test(end.kind) && end.timeMs <= timeMs)
      .map((end) => timeMs - end.timeMs),
  );
  if (awayMs > AWAY_MS) return undefined;
  const own = { kind: 'member-back', fields: { isOwn: true, isRestarted: true, awayMs } } as const;
  return { ...event, ...own, ...STYLES['member-back'], ...describe({ ...own, message: '' }) };
}

/** `restarted, 0.6.0 → 0.6.1`, `stopped in order, away 4 s`; one that did not stop in order was lost, although it is back. */
function returnText({ kind, title, detail, fields }: ShownEvent, parts: readonly ShownEvent[]): Partial<ShownEvent> {
  if (kind !== 'member-back') return {};
  const { before, version } = parts.find((part) => part.kind === 'version-changed')?.fields ?? {};
  const how = parts.some((part) => /^(stopped|member-left)$/.test(part.kind)) ? 'stopped in order' : null;
  const killed = parts.find((part) => part.kind === 'killed');
  const lost =
    how || fields.isRestarted !== true ? undefined : (killed ?? parts.find((part) => part.kind === 'member-lost'));
  const own = lost ? `was ${killed ? 'killed' : 'lost'} and restarted` : title;
  return {
    ...(lost && { ...STYLES[lost.kind], kind: lost.kind, timeMs: lost.timeMs }),
    title: before && version ? `${own}, ${text(before)} → ${text(version)}` : own,
    detail: [how, detail].filter(Boolean).join(', ') || null,
  };
}

function toShown(record: ClusterRecord): ShownEvent | undefined {
  const event = toEvent(record);
  if (!event) return undefined;
  const { kind, fields, cursor } = event;
  const node = text(fields.member) || record.node;
  return {
    kind,
    fields,
    node,
    key: `${record.node} ${cursor}`,
    ...STYLES[kind],
    timeMs: eventTime(event, record),
    ...describe(event),
  };
}

/** When it happened, not when it was noticed. */
function eventTime({ kind, fields }: NodeEvent, { atMs, timeMs }: ClusterRecord): number {
  const noticedMs = atMs ?? timeMs ?? 0;
  const { record, lastSignMs } = fields as { record?: { timeMs?: unknown }; lastSignMs?: unknown };
  if (kind === 'member-lost' && typeof lastSignMs === 'number') return lastSignMs;
  if ((kind === 'log-burst' || kind === 'new-pattern') && typeof record?.timeMs === 'number') return record.timeMs;
  return noticedMs;
}

function describe({
  kind,
  fields,
  message,
}: Pick<NodeEvent, 'kind' | 'fields' | 'message'>): Partial<KindStyle> & { detail: string | null } {
  switch (kind) {
    case 'member-lost':
      return { detail: 'no shutdown record: it was killed or lost' };
    case 'member-back': {
      const away = typeof fields.awayMs === 'number' ? `away ${formatSpan(fields.awayMs)}` : null;
      return { title: fields.isRestarted === true ? 'restarted' : 'is back', detail: away };
    }
    case 'started':
      return { detail: typeof fields.version === 'string' ? `version ${fields.version}` : null };
    case 'log-burst':
      return {
        title: `errors rose from ${number(fields.usualPerMinute)} to ${number(fields.errors)} a minute`,
        detail: firstOf(fields),
      };
    case 'new-pattern':
      return { detail: firstOf(fields) };
    case 'config-changed':
    case 'config-file-differs': {
      const keys = changedKeys(fields);
      const count = typeof fields.changed === 'number' ? fields.changed : keys.length;
      const title = kind === 'config-changed' ? 'configuration changed' : 'configuration edited, not loaded';
      return {
        title: `${title}, ${formatCounted(count, 'key')}`,
        detail: keys.slice(0, MAX_CHANGES).join(' · ') || null,
      };
    }
    default:
      return { detail: message };
  }
}

/** Changes of configurations with their old and new values: `wal.dir /data/wal → /mnt/wal`. */
export function withChanges(events: readonly ShownEvent[], nodes: ClusterConfigHistory['nodes']): ShownEvent[] {
  return events.map((event) => {
    if (event.kind !== 'config-changed') return event;
    const { periods = [] } = nodes.find(({ id }) => id === event.node)?.history ?? {};
    const { changes } = periods.find(({ version }) => version === event.fields.config) ?? {};
    return changes?.length ? { ...event, detail: changesText(changes) } : event;
  });
}

function changesText(changes: readonly VersionChange[]): string {
  const texts = changes
    .slice(0, MAX_CHANGES)
    .map(({ key, before, after }) => `${key} ${showValue(before).text} → ${showValue(after).text}`);
  const more = changes.length - texts.length;
  return [...texts, ...(more > 0 ? [`${more} more`] : [])].join('\n');
}

/** The keys of an event about a configuration. */
export function changedKeys({ keys }: NodeEvent['fields']): string[] {
  return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
}

/** `first: wal.go:211 fsync of segment 118 failed` */
function firstOf({ record, pattern }: NodeEvent['fields']): string | null {
  const { message } = (record ?? {}) as { message?: unknown };
  const { source } = (pattern ?? {}) as { source?: unknown };
  const parts = [text(source).split('/').at(-1) ?? '', text(message).split('\n', 1)[0] ?? ''].filter(Boolean);
  return parts.length === 0 ? null : `first: ${parts.join(' ')}`;
}

function isPartOfReturn(event: ShownEvent, back: ShownEvent): boolean {
  if (event === back || event.node !== back.node) return false;
  if (!/^(started|stopped|killed|version-changed|member-left|member-lost)$/.test(event.kind)) return false;
  // The end of the run that began with the return.
  if (event.kind !== 'started' && event.fields.run !== undefined && event.fields.run === back.fields.run) return false;
  const awayMs = typeof back.fields.awayMs === 'number' ? back.fields.awayMs : 0;
  // What others see may be noticed later.
  const untilMs = back.timeMs + (back.fields.isOwn === true ? START_MS : AROUND_MS);
  return event.timeMs > back.timeMs - awayMs - AROUND_MS && event.timeMs < untilMs;
}

function isOfBurst({ kind, node, timeMs }: ShownEvent, bursts: readonly ShownEvent[]): boolean {
  return (
    kind === 'new-pattern' && bursts.some((burst) => burst.node === node && Math.abs(burst.timeMs - timeMs) < BURST_MS)
  );
}

/** Others saw the end that the node itself reported. */
function isSeenEnd({ kind, node, fields }: ShownEvent, all: readonly ShownEvent[]): boolean {
  if (kind !== 'member-left' && kind !== 'member-lost') return false;
  const isEnd = (other: ShownEvent) => other.kind === 'stopped' || other.kind === 'killed';
  return all.some((other) => isEnd(other) && other.node === node && other.fields.run === fields.run);
}

/** Events that say the same of several nodes at about the same time are one; newest first. */
export function groupEvents(events: readonly ShownEvent[]): (ShownEvent & { nodes: string[] })[] {
  const groups: (ShownEvent & { nodes: string[] })[] = [];
  for (const event of events) {
    const same = groups.find(
      ({ title, detail, timeMs }) =>
        title === event.title && detail === event.detail && Math.abs(timeMs - event.timeMs) < AROUND_MS,
    );
    if (!same) groups.push({ ...event, nodes: [event.node] });
    else if (!same.nodes.includes(event.node)) same.nodes.push(event.node);
  }
  for (const { nodes } of groups) nodes.sort(byText);
  return groups;
}

/** Events as marks that do not cover each other: of those within a distance, the most severe. */
export function spacedEvents(events: readonly ShownEvent[], distanceMs: number): ShownEvent[] {
  const marks: ShownEvent[] = [];
  for (const event of events.toSorted((a, b) => rank(b) - rank(a)))
    if (marks.every(({ timeMs }) => Math.abs(timeMs - event.timeMs) >= distanceMs)) marks.push(event);
  return marks;
}

function rank({ tone }: ShownEvent): number {
  return tone === 'err' ? 3 : tone === 'accent' ? 2 : tone === 'warn' ? 1 : 0;
}

/** What happened around an event. */
export function incidentAround(timeMs: number, labels: readonly string[]): IncidentsView {
  return { ...INCIDENTS, labels, range: { kind: 'fixed', fromMs: timeMs - BEFORE_MS, toMs: timeMs + AFTER_MS } };
}

/** The class of its colour. */
export function eventClass({ tone }: Pick<ShownEvent, 'tone'>): string {
  return tone === 'err' ? 'problem' : tone === 'accent' ? 'accent' : tone === 'warn' ? 'warning' : 'dim';
}

function number(value: unknown): string {
  return typeof value === 'number' ? String(Math.round(value * 10) / 10) : '?';
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
