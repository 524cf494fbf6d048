import type { MemberDuplicateFile, MemberReport } from '@porthole/client';
import type { Problem } from '../../state/to-problem.ts';
import type { RecordKey } from '../../state/view.ts';
import type {
  Direction,
  Extent,
  HistogramResult,
  PagePosition,
  RowFilter,
  ShownProblem,
  ShownRecord,
} from '../source/log-source.ts';
import { RowBuffer } from './row-buffer.ts';

/** First request on each side: two screens are drawn sooner than four are loaded. */
export const FIRST_RECORDS = 100;

export const EDGES = { older: 'top', newer: 'bottom' } as const satisfies Record<Direction, keyof WorkspaceState>;

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
      /** It stands for these rows, of which it is the first: they differ in numbers only. */
      folded?: readonly RecordRow[];
      /** They are shown after it nevertheless. */
      isOpened?: true;
    }
  /** Missing records: skipped, lost, or dropped while paused. */
  | {
      kind: 'gap';
      key: string;
      node: string | null;
      text: string;
      isLoading: boolean;
      /** Why it could not be loaded. */
      failure?: string | undefined;
      /** What to load; absent if it cannot be loaded. */
      range?: GapRange;
      /** The lines of a node end here because it is not responding; those above were recorded, or are from the archive. */
      recorded?: MemberReport & { asOfMs: number };
    }
  /** Rotated, truncated, a member that stopped responding, a lost connection: one line of text. */
  | { kind: 'event'; key: string; node: string | null; text: string; isProblem: boolean };

export type RecordRow = Extract<Row, { kind: 'record' }>;

export type Edge =
  /** There are, or may be, more records. */
  | { kind: 'more' }
  | ({ kind: 'loading'; sinceMs: number } & ScanTotals)
  /** Nothing left in this direction. `scannedBytes` since the workspace was opened. */
  | { kind: 'done'; scannedBytes: number }
  /** Stopped by the user or by the time budget; can be continued. */
  | ({ kind: 'stopped' } & ScanTotals)
  | { kind: 'failed'; code: string; detail: string };

/** Totals scanned in one direction since the log was opened, over all pages. */
export interface ScanTotals {
  scannedBytes: number;
  reachedMs: number | null;
}

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

export interface TextRange {
  start: number;
  end: number;
}

/** Match positions in a text, ascending, not overlapping. */
export type TextMatcher = (text: string) => readonly TextRange[];

export interface FindStatus {
  query: FindQuery | null;
  /** `null` until it is made, and if the query is invalid. */
  matcher: TextMatcher | null;
  isSearching: boolean;
  /** Index of the focused match among all, 1 for the oldest; `null` while unknown. */
  index: number | null;
  total: number | null;
  /** An invalid regex, or that nothing more was found and how much was scanned. */
  message: string | null;
}

export interface ShowOptions {
  align: 'top' | 'center' | 'bottom';
  /** The record to bring into view, or the nearest one; otherwise the first one after the position. */
  near?: RecordKey;
  /** Also focuses it. */
  isFocused?: boolean;
}

export type RequestKind = 'page' | 'follow' | 'count';

/** The state of a workspace: what is shown, and what the reducer needs to go on. */
export interface WorkspaceState {
  /** What is shown: the loaded rows, and those of nodes that are not responding. A new array on every change. */
  rows: readonly Row[];
  /** The same with repeated lines folded, as the list shows them. */
  shown: readonly Row[];
  isFolding: boolean;
  /** Rows of which all lines are shown, and runs of repeated lines that were opened. */
  expanded: ReadonlySet<string>;
  /** Increases when all rows are replaced: the view then scrolls to the anchor. */
  generation: number;
  anchor: { key: string; align: ShowOptions['align'] } | null;
  focusedKey: string | null;
  top: Edge;
  bottom: Edge;
  follow: FollowStatus;
  find: FindStatus;
  filter: RowFilter;
  /** Key of the record whose context is open in a filtered view. */
  contextKey: string | null;
  failure: Problem | null;
  /** The worst report of each queried member. */
  members: readonly MemberReport[];
  problems: readonly ShownProblem[];
  /** Files left out because another one contains all of their text: nothing is missing. */
  duplicates: readonly MemberDuplicateFile[];
  extent: Extent | null;
  histogram: HistogramResult | null;
  isCounting: boolean;
  /** Why counting failed; earlier counts belong to another filter. */
  countFailure: string | null;
  buffer: RowBuffer;
  /** All rows are being replaced: someone waits for those of another place. */
  isShowing: boolean;
  /** Whether the last row is adjacent to the followed records. */
  isAtEnd: boolean;
  /** Where loading continues at each edge; `null`: nothing to load. */
  positions: Readonly<Record<Direction, PagePosition | null>>;
  scans: Readonly<Record<Direction, ScanTotals>>;
  /** What to bring into view once there are rows. */
  scrollTo: ShowOptions | null;
  /**
   * The last report of each member for each kind of request. A failure stays until the same kind succeeds: a member that
   * is followed again has not returned the records it missed.
   */
  reports: Readonly<Record<RequestKind, ReadonlyMap<string, MemberReport>>>;
}

export const FIND_NOTHING: FindStatus = {
  query: null,
  matcher: null,
  isSearching: false,
  index: null,
  total: null,
  message: null,
};

const NOTHING_SCANNED: ScanTotals = { scannedBytes: 0, reachedMs: null };

export const NO_SCANS: WorkspaceState['scans'] = { older: NOTHING_SCANNED, newer: NOTHING_SCANNED };

export const INITIAL: WorkspaceState = {
  rows: [],
  shown: [],
  isFolding: false,
  expanded: new Set(),
  generation: 0,
  anchor: null,
  focusedKey: null,
  top: { kind: 'more' },
  bottom: { kind: 'more' },
  follow: { state: 'off', newRecords: 0, newErrors: 0, linesPerSecond: 0, lagMs: null, reason: null },
  find: FIND_NOTHING,
  filter: {},
  contextKey: null,
  failure: null,
  members: [],
  problems: [],
  duplicates: [],
  extent: null,
  histogram: null,
  isCounting: false,
  countFailure: null,
  buffer: RowBuffer.EMPTY,
  isShowing: false,
  isAtEnd: false,
  positions: { older: null, newer: null },
  scans: NO_SCANS,
  scrollTo: null,
  reports: { page: new Map(), follow: new Map(), count: new Map() },
};
