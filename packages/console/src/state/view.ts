import type { Level } from '@porthole/client';
import type { RecordKey } from '../log-view/source/log-source.ts';

/* What the page shows, as its URL says it: whoever has the URL sees the same. */

/** Whose times are shown. */
export type ZoneName = 'local' | 'utc';

export interface SourceChoice {
  /** Id of a member, or a pattern with `*` and `?`. */
  node: string;
  /** `null`: all logs of the node. */
  log: { kind: 'family' | 'file'; name: string } | null;
}

/** A range that moves with the clock, or a fixed one; both ends may be open. */
export type TimeRange =
  | { kind: 'last'; spanMs: number }
  | { kind: 'fixed'; fromMs: number | null; toMs: number | null };

/** Whether new records can fall into it: one that has an end is over. */
export function canFollow(range: TimeRange | null): boolean {
  return range?.kind !== 'fixed' || range.toMs === null;
}

export interface LogsView {
  page: 'logs';
  /** Empty: all logs of all nodes. */
  sources: readonly SourceChoice[];
  range: TimeRange | null;
  minLevel: Level | null;
  /** What is looked for. */
  text: string;
  isRegex: boolean;
  isCaseSensitive: boolean;
  /** Only records that match; otherwise matches are marked and can be stepped through. */
  isOnlyMatches: boolean;
  /** Records with this text are left out. */
  excluded: readonly string[];
  /** Only records written there: `file:line` or `file`. */
  callSite: string | null;
  /** Only records with this tag. */
  component: string | null;
  /** The record in focus. */
  at: RecordKey | null;
  /** A moment to go to. */
  timeMs: number | null;
  isLive: boolean;
  isWrapped: boolean;
  isPlain: boolean;
  hasHistogram: boolean;
}

/** All logs of all nodes, followed: begin with this and change what is to be different. */
export const ALL_LOGS: LogsView = {
  page: 'logs',
  sources: [],
  range: null,
  minLevel: null,
  text: '',
  isRegex: false,
  isCaseSensitive: false,
  isOnlyMatches: false,
  excluded: [],
  callSite: null,
  component: null,
  at: null,
  timeMs: null,
  isLive: true,
  isWrapped: false,
  isPlain: false,
  hasHistogram: true,
};

/** A configuration as a table of its settings, or its text as it was when the node started; else its text now. */
export type ConfigShape = 'table' | 'start';

export interface ConfigView {
  page: 'config';
  /** Of the nodes compared. */
  role: string | null;
  /** Two nodes side by side. */
  left: string | null;
  right: string | null;
  /** Keys that contain this. */
  text: string;
  showExpected: boolean;
  /** Of a node that is alone. */
  shape?: ConfigShape;
}

/** The differences of all nodes. */
export const ALL_CONFIG: ConfigView = {
  page: 'config',
  role: null,
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
  /** Of the configuration. */
  shape?: ConfigShape;
}

export type View = { page: 'cluster' } | NodeView | ConfigView | LogsView | { page: 'unknown'; path: string };
