import type { Level, MemberDuplicateFile, MemberReport } from '@porthole/client';
import type {
  Extent,
  HistogramResult,
  LogSource,
  PagePosition,
  RecordKey,
  RowFilter,
  ShownRecord,
} from '../source/log-source.ts';
import type { ShownProblem } from './reports.ts';

/* The state of a workspace and its operations: the boundary between logic and view. */

/** The records a gap lies between. */
export interface GapRange {
  /** The node whose records are missing; `null`: all nodes. */
  node: string | null;
  after: RecordKey;
  until: RecordKey | null;
}

export type Row =
  | {
      kind: 'record';
      key: string;
      record: ShownRecord;
      /** Shown only as context of another record. */
      isContext?: true;
    }
  /** Missing records: skipped, lost, or dropped while paused. `canLoad`: they can be loaded. */
  | {
      kind: 'gap';
      key: string;
      node: string | null;
      text: string;
      canLoad: boolean;
      isLoading: boolean;
      /** What to load; absent if it cannot be loaded. */
      range?: GapRange;
      /** The lines of a node end here because it is not responding; those above are of this time, from its snapshot. */
      snapshot?: { asOfMs: number; sinceMs: number | null; from: string };
    }
  /** Rotated, truncated, a member that stopped responding, a lost connection: one line of text. */
  | { kind: 'event'; key: string; node: string | null; text: string; isProblem: boolean };

/** State above the first row and below the last one. */
export type Edge =
  /** There are, or may be, more records. */
  | { kind: 'more' }
  | { kind: 'loading'; sinceMs: number; scannedBytes: number; reachedMs: number | null }
  /** Nothing left in this direction. `scannedBytes` since the workspace was opened. */
  | { kind: 'done'; scannedBytes: number }
  /** Stopped by the user or by the time budget; can be continued. */
  | { kind: 'stopped'; scannedBytes: number; reachedMs: number | null }
  | { kind: 'failed'; code: string; detail: string };

export interface FollowStatus {
  state: 'off' | 'live' | 'paused' | 'reconnecting';
  /** Since it was paused. */
  newRecords: number;
  newErrors: number;
  linesPerSecond: number;
  /** From the timestamp of a record to its arrival; `null` before the first one. */
  lagMs: number | null;
  /** Why the connection is lost; while reconnecting. */
  reason: string | null;
}

export interface FindQuery {
  text: string;
  isRegex: boolean;
  isCaseSensitive: boolean;
}

export interface FindStatus {
  query: FindQuery | null;
  isSearching: boolean;
  /** Index of the focused match among all, 1 for the oldest; `null` while unknown. */
  index: number | null;
  total: number | null;
  /** An invalid regex, or that nothing more was found and how much was scanned. */
  message: string | null;
}

export interface WorkspaceState {
  /** A new array on every change. */
  rows: readonly Row[];
  /** Increases when all rows are replaced: the view then scrolls to the anchor. */
  generation: number;
  anchor: { key: string; align: 'top' | 'center' | 'bottom' } | null;
  focusedKey: string | null;
  top: Edge;
  bottom: Edge;
  follow: FollowStatus;
  find: FindStatus;
  filter: RowFilter;
  /** Key of the record whose context is open in a filtered view. */
  contextKey: string | null;
  /** Why nothing can be shown. */
  failure: { code: string; detail: string; status: number | null } | null;
  /** The last report of each queried member. */
  members: readonly MemberReport[];
  problems: readonly ShownProblem[];
  /** Files left out because another one contains all of their text: nothing is missing. */
  duplicates: readonly MemberDuplicateFile[];
  extent: Extent | null;
  histogram: HistogramResult | null;
  isCounting: boolean;
  /** Why counting failed; earlier counts belong to another filter. */
  countFailure: string | null;
}

export interface OpenWorkspace {
  source: LogSource;
  filter: RowFilter;
  find: FindQuery | null;
  /** The first position shown; ignored when following. */
  start: PagePosition;
  /** Follows from the end. */
  isLive: boolean;
}

/** Operations of the view. Subscribers are notified of every change, at most once per frame while following. */
export interface Workspace {
  readonly state: WorkspaceState;
  subscribe(listener: () => void): () => void;
  /** Opens other sources or another position; cancels what is running. */
  open(setup: OpenWorkspace): void;
  close(): void;

  /** Called when rows near an edge come into view. No effect while the edge is loading or done. */
  loadOlder(): void;
  loadNewer(): void;
  /** Stops loading at both edges; they become `stopped`. */
  stopLoading(): void;
  /** Continues after `stopped` or `failed`, and retries members that did not respond. */
  retry(): void;
  /** Goes to a position and stops following. */
  jump(position: PagePosition): void;

  pause(): void;
  /** Goes to the end and shows what arrived meanwhile. */
  resume(): void;

  focus(key: string | null): void;
  /** Moves by this many records; pauses. */
  moveFocus(by: number): void;
  toFirst(): void;
  toLast(): void;
  /** The next record of at least this level in the direction, also beyond the loaded rows. */
  toLevel(level: Level, direction: 'older' | 'newer'): void;

  /**
   * Without a position, the view keeps its position. An invalid regex changes nothing: `setFind` reports it. A filter with
   * an end time is not followed.
   */
  setFilter(filter: RowFilter, position?: PagePosition): void;
  setFind(query: FindQuery | null): void;
  findNext(direction: 'older' | 'newer'): void;
  /** Shows the unfiltered records around one; called again, hides them. */
  toggleContext(key: string): void;
  loadGap(key: string): void;
  /** Counts for the chart and the level chips, over the time range of the filter. */
  count(buckets: number): void;
  keyFor(record: RecordKey): string;
}
