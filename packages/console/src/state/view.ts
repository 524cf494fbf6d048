import { canFollow, type TimeRange } from './time-range.ts';
import { PAGES, readFields, type ValuesOf } from './view-fields.ts';

/* What a page shows, as encoded in its URL. */

/** The time zone in which times are shown: that of the browser, UTC, or one by its IANA name. */
export type ZoneName = 'local' | 'utc' | (string & {});

export interface SourceChoice {
  /** Id of a member, or a pattern with `*` and `?`. */
  node: string;
  /** `null`: all logs of the node. */
  log: { kind: 'family' | 'file'; name: string } | null;
}

/** Identifies a record, also after rotation. A whole `ShownRecord` is one, too, and saves a source the lookup. */
export interface RecordKey {
  node: string;
  cursor: string;
}

type PageView<Page extends keyof typeof PAGES> = { page: Page } & ValuesOf<(typeof PAGES)[Page]>;

export type OverviewView = PageView<'overview'>;
export type NodesView = PageView<'nodes'>;
export type IncidentsView = PageView<'incidents'>;
export type LogsView = PageView<'logs'>;
export type ConfigView = PageView<'config'>;

/** `logs`: its files, which are a part of its page. */
export type NodeView = PageView<'node'> & { id: string; tab: 'overview' | 'config' | 'logs' };

export type ConfigShape = NonNullable<ConfigView['shape']>;

export type View =
  | OverviewView
  | LogsView
  | IncidentsView
  | ConfigView
  | NodesView
  | NodeView
  | { page: 'unknown'; path: string };

/** A URL without parameters: what is usual. */
const PLAIN = new URLSearchParams();

export const OVERVIEW: OverviewView = { page: 'overview', ...readFields(PAGES.overview, PLAIN) };
export const ALL_NODES: NodesView = { page: 'nodes', ...readFields(PAGES.nodes, PLAIN) };
export const INCIDENTS: IncidentsView = { page: 'incidents', ...readFields(PAGES.incidents, PLAIN) };

/** All logs of all nodes, followed: the base of other views. */
export const ALL_LOGS: LogsView = { page: 'logs', ...readFields(PAGES.logs, PLAIN) };

/** What changed last. */
export const ALL_CONFIG: ConfigView = { page: 'config', ...readFields(PAGES.config, PLAIN) };

/** The time range of a page; `undefined` if it has none. */
export function rangeOf(view: View): TimeRange | null | undefined {
  return 'range' in view ? view.range : undefined;
}

/** A page with the time range of the one before it: there is one for all pages. */
export function withRange<Next extends View>(view: Next, range: TimeRange | null | undefined): Next {
  if (!('range' in view) || range === undefined) return view;
  return { ...view, range, ...(view.page === 'logs' && { isLive: view.isLive && canFollow(range) }) };
}

export function nodeView(id: string, tab: NodeView['tab'] = 'overview', text = ''): NodeView {
  return { page: 'node', id, tab, ...readFields(PAGES.node, PLAIN), text };
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
