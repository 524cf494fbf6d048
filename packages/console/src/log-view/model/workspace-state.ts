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
import type { ShownProblem } from './file-problems.ts';

/* What the workspace is at a moment, and what can be done with it: the border between logic and view. */

export type Row =
  | {
      kind: 'record';
      key: string;
      record: ShownRecord;
      /** Shown only because it stands around the record whose context is open. */
      isContext?: true;
    }
  /** Records that are not here: skipped, lost, or let go while paused. `canLoad`: they can be had. */
  | {
      kind: 'gap';
      key: string;
      node: string | null;
      text: string;
      canLoad: boolean;
      isLoading: boolean;
      /** The lines of a node end here, because it does not respond; those above are from its snapshot of this time. */
      snapshot?: { asOfMs: number; sinceMs: number | null };
    }
  /** Rotated, truncated, a member that stopped answering, a lost connection: one line of text. */
  | { kind: 'event'; key: string; node: string | null; text: string; isProblem: boolean };

/** What stands above the first row, and below the last. */
export type Edge =
  /** There is more, or may be. */
  | { kind: 'more' }
  | { kind: 'loading'; sinceMs: number; scannedBytes: number; reachedMs: number | null }
  /** Nothing is left in this direction. `scannedBytes` since the workspace was opened. */
  | { kind: 'done'; scannedBytes: number }
  /** Stopped by the user or by the time budget: can be gone on with. */
  | { kind: 'stopped'; scannedBytes: number; reachedMs: number | null }
  | { kind: 'failed'; code: string; detail: string };

export interface FollowStatus {
  state: 'off' | 'live' | 'paused' | 'reconnecting';
  /** Since it was paused. */
  newRecords: number;
  newErrors: number;
  linesPerSecond: number;
  /** From the time a record tells to its arrival; `null` until one came. */
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
  /** Of the focused match among all, 1 for the oldest; `null` while unknown. */
  index: number | null;
  total: number | null;
  /** An invalid regex, or that nothing more was found and what was looked through. */
  message: string | null;
}

export interface WorkspaceState {
  /** A new array with every change. */
  rows: readonly Row[];
  /** Grows when other rows took the place of all: the view then scrolls to the anchor. */
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
  /** Why nothing can be shown, as the API says it. */
  failure: { code: string; detail: string; status: number | null } | null;
  /** The last report of each member asked. */
  members: readonly MemberReport[];
  problems: readonly ShownProblem[];
  /** Files left out because another one has all of their text: nothing is missing. */
  duplicates: readonly MemberDuplicateFile[];
  extent: Extent | null;
  histogram: HistogramResult | null;
  isCounting: boolean;
  /** Why nothing could be counted; the counts before it are not of this filter. */
  countFailure: string | null;
}

export interface OpenWorkspace {
  source: LogSource;
  filter: RowFilter;
  find: FindQuery | null;
  /** What is shown first; the newest when following. */
  start: PagePosition;
  /** Follows from the end. */
  isLive: boolean;
}

/** What the view may do. Every change is told to who subscribed, at most once per frame while following. */
export interface Workspace {
  readonly state: WorkspaceState;
  subscribe(listener: () => void): () => void;
  /** Begins anew with other sources, or another place; what was under way is given up. */
  open(setup: OpenWorkspace): void;
  close(): void;

  /** Rows near an edge came into view. Harmless while it is loading or done. */
  loadOlder(): void;
  loadNewer(): void;
  /** Ends what is loading at either edge; the edge becomes `stopped`. */
  stopLoading(): void;
  /** Goes on after `stopped` or `failed`, and asks members again that did not answer. */
  retry(): void;
  /** Leaves following. */
  jump(place: PagePosition): void;

  pause(): void;
  /** Back to the end, with what came meanwhile. */
  resume(): void;

  focus(key: string | null): void;
  /** By so many record rows; pauses. */
  moveFocus(by: number): void;
  toFirst(): void;
  toLast(): void;
  /** The next record of at least this level in the direction, also beyond what is loaded. */
  toLevel(level: Level, direction: 'older' | 'newer'): void;

  /**
   * Without a place, what is in view stays. A regex that cannot be used changes nothing: `setFind` reports it. A filter
   * with an end in time is not followed.
   */
  setFilter(filter: RowFilter, place?: PagePosition): void;
  setFind(query: FindQuery | null): void;
  findNext(direction: 'older' | 'newer'): void;
  /** Shows what stands around a filtered record, in place; the second time restores. */
  toggleContext(key: string): void;
  loadGap(key: string): void;
  /** Counts for the chart and the level chips, over the filter's time range. */
  count(buckets: number): void;
  keyFor(record: RecordKey): string;
}
