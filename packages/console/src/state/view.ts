import type { Level } from '@porthole/client';

/* What a page shows, as encoded in its URL. */

/** The time zone in which times are shown: that of the browser, UTC, or one by its IANA name. */
export type ZoneName = 'local' | 'utc' | (string & {});

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

interface NodeSelection {
  /** Only nodes with these labels: `zone=eu-*`; of each name one must match. */
  labels: readonly string[];
  /** The name of the label by which they are grouped; also `role` and `none`. `null`: many nodes are grouped by role. */
  by: string | null;
}

export interface OverviewView extends NodeSelection {
  page: 'overview';
  /** `null`: the last hour. */
  range: TimeRange | null;
}

export const OVERVIEW: OverviewView = { page: 'overview', labels: [], by: null, range: null };

export interface NodesView extends NodeSelection {
  page: 'nodes';
  /** Only nodes whose name, role or labels contain these words. */
  text: string;
  /** `null`: the last hour. */
  range: TimeRange | null;
}

export const ALL_NODES: NodesView = { page: 'nodes', labels: [], by: null, text: '', range: null };

export interface IncidentsView {
  page: 'incidents';
  /** `null`: the last hour. */
  range: TimeRange | null;
  labels: readonly string[];
}

export const INCIDENTS: IncidentsView = { page: 'incidents', range: null, labels: [] };

/** The range of pages that always have one. */
export const LAST_HOUR = { kind: 'last', spanMs: 3_600_000 } as const satisfies TimeRange;

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
  text: string;
  isRegex: boolean;
  isCaseSensitive: boolean;
  /** Only matching records; otherwise matches are highlighted. */
  isOnlyMatches: boolean;
  excluded: readonly string[];
  /** Only records of this call site: `file:line` or `file`. */
  callSite: string | null;
  component: string | null;
  /** Fields shown as columns, in this order. */
  columns: readonly string[];
  hasFields: boolean;
  /** Fields whose values are counted in the field list. */
  countedBy: readonly string[];
  /** The field whose values the bars of the chart are split by; `null`: levels. */
  splitBy: string | null;
  at: RecordKey | null;
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
  hasFields: true,
  countedBy: [],
  splitBy: null,
  at: null,
  timeMs: null,
  isLive: true,
  isWrapped: false,
  isPlain: false,
  hasHistogram: true,
};

/** The text at start, or that of the service's files; otherwise the current configuration as TOML. */
export type ConfigShape = 'start' | 'source';

export interface ConfigView {
  page: 'config';
  /** The versions of a node, where nodes differ, or the text of a node. */
  tab: 'history' | 'compare' | 'text';
  /** The node whose versions or text are shown; `null`: the one that changed last. */
  node: string | null;
  /** The version that the node had at this time; `null`: the current one. */
  atMs: number | null;
  /** Both versions beside each other instead of one text. */
  isSplit: boolean;
  role: string | null;
  labels: readonly string[];
  /** The name of a label: only nodes with the same value are compared with each other. */
  by: string | null;
  /** With `by`: the label of the nodes shown, like `zone=eu-1`; empty: those without it. */
  group: string | null;
  /** Two nodes side by side. */
  left: string | null;
  right: string | null;
  text: string;
  showExpected: boolean;
  shape?: ConfigShape;
}

/** What changed last. */
export const ALL_CONFIG: ConfigView = {
  page: 'config',
  tab: 'history',
  node: null,
  atMs: null,
  isSplit: false,
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
  /** `logs`: its files, which are a part of its page. */
  tab: 'overview' | 'config' | 'logs';
  text: string;
  /** `null`: the last hour. */
  range: TimeRange | null;
  shape?: ConfigShape;
}

export type View =
  | OverviewView
  | LogsView
  | IncidentsView
  | ConfigView
  | NodesView
  | NodeView
  | { page: 'unknown'; path: string };

/** The time range of a page; `undefined` if it has none. */
export function rangeOf(view: View): TimeRange | null | undefined {
  return 'range' in view ? view.range : undefined;
}

/** A page with the time range of the one before it: there is one for all pages. */
export function withRange<Next extends View>(view: Next, range: TimeRange | null | undefined): Next {
  if (!('range' in view) || range === undefined) return view;
  return { ...view, range, ...(view.page === 'logs' && { isLive: view.isLive && canFollow(range) }) };
}

/** Both ends of a range that is closed by now; without a start, what the default span covers. */
export function closedRange(range: TimeRange | null, nowMs: number): { fromMs: number; toMs: number } {
  const { fromMs, toMs = nowMs } = resolveRange(range ?? LAST_HOUR, nowMs);
  return { fromMs: fromMs ?? toMs - 24 * 3_600_000, toMs };
}

/** Identifies a record, also after rotation. A whole `ShownRecord` is one, too, and saves a source the lookup. */
export interface RecordKey {
  node: string;
  cursor: string;
}

export function nodeView(id: string, tab: NodeView['tab'] = 'overview', text = ''): NodeView {
  return { page: 'node', id, tab, text, range: null };
}

/** All logs of a node, or one of them. */
export function nodeLogs(node: string, log: SourceChoice['log'] = null): LogsView {
  return { ...ALL_LOGS, sources: [{ node, log }] };
}

/** What was recorded of a node that is not responding. */
export function recordedView(id: string): LogsView {
  return { ...nodeLogs(id), isLive: false };
}

/** `broker-1 : lind-broker`; `lind-broker` of all nodes. */
export function sourceName({ node, log }: SourceChoice): string {
  if (!log) return node;
  const name = log.kind === 'family' ? log.name.replace(/\.log$/, '') : log.name;
  return node === '*' ? name : `${node} : ${name}`;
}
