import type { FoundRecord, Level, QueryNode } from '@porthole/logs/types';
import type { MemberReport } from './member.ts';
import type { SettingJson } from './node-state.ts';

/** What happened to a node, its configuration, its logs, its machine or its cluster. */
export const EVENT_KINDS = [
  'started',
  'stopped',
  'killed',
  'version-changed',
  'config-changed',
  'config-file-differs',
  'log-rotated',
  'log-silent',
  'log-burst',
  'new-pattern',
  'clock-stepped',
  'disk-nearly-full',
  'certificate-expiring',
  'service-started',
  'service-stopped',
  'service-killed',
  'member-joined',
  'member-left',
  'member-lost',
  'member-back',
  'recorder-stopped',
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

/** How severe each kind is; an event is a record of its log, and this is its level. */
export const EVENT_LEVELS: Readonly<Record<EventKind, Extract<Level, 'INFO' | 'WARN' | 'ERROR'>>> = {
  started: 'INFO',
  stopped: 'INFO',
  killed: 'ERROR',
  'version-changed': 'INFO',
  'config-changed': 'WARN',
  'config-file-differs': 'WARN',
  'log-rotated': 'INFO',
  'log-silent': 'WARN',
  'log-burst': 'ERROR',
  'new-pattern': 'WARN',
  'clock-stepped': 'WARN',
  'disk-nearly-full': 'ERROR',
  'certificate-expiring': 'WARN',
  'service-started': 'INFO',
  'service-stopped': 'INFO',
  'service-killed': 'ERROR',
  'member-joined': 'INFO',
  'member-left': 'INFO',
  'member-lost': 'ERROR',
  'member-back': 'INFO',
  'recorder-stopped': 'ERROR',
};

/** An event as programs use it; in a response it is a record whose context has the kind and the fields. */
export interface NodeEvent {
  kind: EventKind;
  timeMs: number;
  level: Level;
  message: string;
  /** Continues after it; identifies it. */
  cursor: string;
  fields: Readonly<Record<string, unknown>>;
}

export function isEventKind(text: unknown): text is EventKind {
  return (EVENT_KINDS as readonly unknown[]).includes(text);
}

/** `undefined`: not an event, or one of a kind that only later versions know. */
export function toEvent({ timeMs, level, message, cursor, context }: FoundRecord): NodeEvent | undefined {
  const fields = typeof context === 'object' && context !== null ? (context as Record<string, unknown>) : {};
  const { kind, ...rest } = fields;
  if (!isEventKind(kind) || timeMs === undefined) return undefined;
  return { kind, timeMs, level: level ?? EVENT_LEVELS[kind], message, cursor, fields: rest };
}

/** Matches events of these kinds, or of any kind: a line that a crash has cut is none. */
export function kindsQuery(kinds: readonly EventKind[] = []): QueryNode {
  const nodes = kinds.map((value): QueryNode => ({ kind: 'field', field: 'kind', operator: '=', value }));
  const [first = { kind: 'exists', field: 'kind' }] = nodes;
  return nodes.length > 1 ? { kind: 'or', nodes } : first;
}

/** A change of a setting between two versions. `null`: the key is missing. Secrets are masked. */
export interface VersionChange {
  /** Dotted key. */
  key: string;
  /** Its value before; `null` if it was missing. Secrets are masked. */
  before: SettingJson | null;
  /** Its value since then; `null` if it is missing. Secrets are masked. */
  after: SettingJson | null;
}

/** A configuration that a node has had for some time. */
export interface ConfigPeriod {
  /** Names the content: the same content has the same version. */
  version: string;
  /** When it was first seen, epoch milliseconds; it may have been edited while the node was down. */
  fromMs: number;
  /** When the next one was first seen, epoch milliseconds; `null`: it is the current one. */
  toMs: number | null;
  /** What changed from the one before; `null` if that is not kept, or there is none. */
  changes: VersionChange[] | null;
}

/** The configurations of a node, newest first. */
export interface ConfigHistory {
  /** Newest first. */
  periods: ConfigPeriod[];
  /** Whether the node still knows of every configuration since its first start. */
  isComplete: boolean;
}

export interface ConfigHistoryRequest {
  /** Only periods in which this key, or a key below it, has changed. */
  key?: string;
  /** Only the period that contains this time. */
  atMs?: number;
  limit: number;
}

/** A configuration as it was served, secrets masked. */
export interface ConfigVersion {
  /** Its version. */
  version: string;
  /** The configuration as TOML, secrets masked. */
  config: string;
  /** Its keys and their values. */
  settings: {
    /** Dotted key. */
    key: string;
    /** Its value; a secret is `******`. */
    value: SettingJson;
  }[];
}

/** The configurations of all members. */
export interface ClusterConfigHistory {
  /** One for each member. */
  nodes: {
    /** Id of the member. */
    id: string;
    /** `null` if the member did not send it. */
    history: ConfigHistory | null;
  }[];
  members: MemberReport[];
}
