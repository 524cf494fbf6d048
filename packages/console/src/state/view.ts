import type { Level } from '@porthole/client';

/* What a page shows, as encoded in its URL. */

/** The time zone in which times are shown. */
export type ZoneName = 'local' | 'utc';

export interface SourceChoice {
  /** Id of a member, or a pattern with `*` and `?`. */
  node: string;
  /** `null`: all logs of the node. */
  log: { kind: 'family' | 'file'; name: string } | null;
}

/** A relative range, or an absolute one; both ends may be open. */
export type TimeRange =
  | { kind: 'last'; spanMs: number }
  | { kind: 'fixed'; fromMs: number | null; toMs: number | null };

/** Whether new records can fall into it. */
export function canFollow(range: TimeRange | null): boolean {
  return range?.kind !== 'fixed' || range.toMs === null;
}

/** The range as a filter; an open end is omitted. */
export function resolveRange(range: TimeRange | null, nowMs: number): { fromMs?: number; toMs?: number } {
  if (range === null) return {};
  if (range.kind === 'last') return { fromMs: nowMs - range.spanMs };
  const { fromMs, toMs } = range;
  return { ...(fromMs !== null && { fromMs }), ...(toMs !== null && { toMs }) };
}

/** The nodes of the cluster. */
export interface ClusterView {
  page: 'cluster';
  /** Only nodes with these labels: `zone=eu-*`; of each name one must match. */
  labels: readonly string[];
  /** The name of the label by which they are grouped. */
  by: string | null;
}

/** All nodes, in one list. */
export const ALL_NODES: ClusterView = { page: 'cluster', labels: [], by: null };

export interface LogsView {
  page: 'logs';
  /** Empty: all logs of all nodes. */
  sources: readonly SourceChoice[];
  /** Only nodes with these labels: `zone=eu-*`; of each name one must match. */
  labels: readonly string[];
  range: TimeRange | null;
  minLevel: Level | null;
  /** Only records that match this query; empty: all. Kept as written: it may be invalid. */
  query: string;
  /** The search text. */
  text: string;
  isRegex: boolean;
  isCaseSensitive: boolean;
  /** Only matching records; otherwise matches are highlighted. */
  isOnlyMatches: boolean;
  /** Records with this text are excluded. */
  excluded: readonly string[];
  /** Only records of this call site: `file:line` or `file`. */
  callSite: string | null;
  /** Only records with this tag. */
  component: string | null;
  /** Fields shown as columns, in this order. */
  columns: readonly string[];
  /** The field list is open. */
  hasFields: boolean;
  /** Fields whose values are counted in the field list. */
  countedBy: readonly string[];
  /** The focused record. */
  at: RecordKey | null;
  /** A time to go to. */
  timeMs: number | null;
  isLive: boolean;
  isWrapped: boolean;
  isPlain: boolean;
  hasHistogram: boolean;
}

/** All logs of all nodes, followed: the base of other views. */
export const ALL_LOGS: LogsView = {
  page: 'logs',
  sources: [],
  labels: [],
  range: null,
  minLevel: null,
  query: '',
  text: '',
  isRegex: false,
  isCaseSensitive: false,
  isOnlyMatches: false,
  excluded: [],
  callSite: null,
  component: null,
  columns: [],
  hasFields: false,
  countedBy: [],
  at: null,
  timeMs: null,
  isLive: true,
  isWrapped: false,
  isPlain: false,
  hasHistogram: true,
};

/** A table of settings, or the text at start; otherwise the current text. */
export type ConfigShape = 'table' | 'start' | 'source';

export interface ConfigView {
  page: 'config';
  /** Role of the compared nodes. */
  role: string | null;
  /** Only nodes with these labels are compared. */
  labels: readonly string[];
  /** The name of a label: only nodes with the same value are compared with each other. */
  by: string | null;
  /** With `by`: the label of the nodes shown, like `zone=eu-1`; empty: those without it. */
  group: string | null;
  /** Two nodes side by side. */
  left: string | null;
  right: string | null;
  /** Only keys that contain this. */
  text: string;
  showExpected: boolean;
  /** For a single node. */
  shape?: ConfigShape;
}

/** Drift between all nodes. */
export const ALL_CONFIG: ConfigView = {
  page: 'config',
  role: null,
  labels: [],
  by: null,
  group: null,
  left: null,
  right: null,
  text: '',
  showExpected: false,
};

export interface NodeView {
  page: 'node';
  id: string;
  tab: 'overview' | 'config' | 'logs';
  text: string;
  /** Form of the configuration. */
  shape?: ConfigShape;
}

export type View = ClusterView | NodeView | ConfigView | LogsView | { page: 'unknown'; path: string };

/** Identifies a record, also after rotation. A whole `ShownRecord` is one, too, and saves a source the lookup. */
export interface RecordKey {
  node: string;
  cursor: string;
}

export function nodeView(id: string, tab: NodeView['tab'] = 'overview', text = ''): NodeView {
  return { page: 'node', id, tab, text };
}

/** All logs of a node, or one of them. */
export function nodeLogs(node: string, log: SourceChoice['log'] = null): LogsView {
  return { ...ALL_LOGS, sources: [{ node, log }] };
}

/** What was recorded of a node that is not responding. */
export function recordedView(id: string): LogsView {
  return { ...nodeLogs(id), isLive: false };
}
