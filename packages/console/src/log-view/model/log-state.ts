import type { MemberReport } from '@porthole/client';
import type { Problem } from '../../state/to-problem.ts';
import type { Extent, HistogramResult, Page, PagePosition, RowFilter, ShownRecord } from '../source/log-source.ts';
import type { ShowOptions } from './bring-into-view.ts';
import { type MemberReports, NO_REPORTS, type RequestKind } from './reports.ts';
import { RowBuffer } from './row-buffer.ts';
import type { Edge, FindQuery, FindStatus, FollowStatus, Row, WorkspaceState } from './workspace-state.ts';

export type Direction = 'older' | 'newer';

export const EDGES = { older: 'top', newer: 'bottom' } as const satisfies Record<Direction, keyof WorkspaceState>;

/** Totals scanned in one direction since the log was opened, over all pages. */
export interface ScanTotals {
  scannedBytes: number;
  reachedMs: number | null;
}

/** The whole state of a workspace: what is shown, and what the reducer needs to go on. */
export interface LogState extends WorkspaceState {
  /** The loaded rows; those of the view also contain snapshot rows. */
  buffer: RowBuffer;
  /** Whether the last row is adjacent to the followed records. */
  isAtEnd: boolean;
  /** Where loading continues at each edge; `null`: nothing to load. */
  positions: Readonly<Record<Direction, PagePosition | null>>;
  scans: Readonly<Record<Direction, ScanTotals>>;
  /** What to bring into view once there are rows. */
  scrollTo: ShowOptions | null;
  reports: MemberReports;
}

/** Everything that can happen to a workspace. */
export type LogAction =
  | { type: 'opened'; filter: RowFilter }
  | { type: 'filter-changed'; filter: RowFilter }
  /** All rows are being replaced by those at a position. */
  | { type: 'show-started'; position: PagePosition; nowMs: number }
  | { type: 'shown'; newer: Page | null; older: Page | null; options: ShowOptions }
  | { type: 'show-failed'; failure: Problem }
  | { type: 'page-loaded'; direction: Direction; page: Page; next: PagePosition | null }
  | { type: 'edge-changed'; direction: Direction; edge: Edge }
  | { type: 'loading-stopped' }
  /** New records, and the status of the stream. */
  | { type: 'followed'; rows: readonly Row[]; follow: FollowStatus }
  | { type: 'resumed'; rows: readonly Row[]; follow: FollowStatus }
  | { type: 'members-reported'; kind: RequestKind; reports: readonly MemberReport[] }
  | { type: 'focused'; key: string | null }
  | { type: 'brought-into-view'; key: string; align: 'top' | 'center' | 'bottom' }
  | { type: 'gap-load-started'; key: string }
  | { type: 'gap-loaded'; key: string; page: Page }
  | { type: 'gap-load-failed'; key: string; detail: string }
  | { type: 'context-opened'; key: string }
  | { type: 'context-loaded'; record: ShownRecord; older: readonly ShownRecord[]; newer: readonly ShownRecord[] }
  | { type: 'context-failed'; detail: string }
  | { type: 'context-closed' }
  | { type: 'find-changed'; query: FindQuery | null }
  | { type: 'find-started' }
  /** The search is over; without a message because it has found something or was stopped. */
  | { type: 'find-ended'; message?: string }
  | { type: 'find-reported'; message: string }
  /** The number of all matches; `null` while it is unknown. */
  | { type: 'matches-counted'; total: number | null }
  | { type: 'match-reached'; index: number | null }
  | { type: 'extent-loaded'; extent: Extent }
  | { type: 'count-started' }
  | { type: 'counted'; histogram: HistogramResult | null }
  | { type: 'count-failed'; detail: string };

const FOLLOW_OFF: FollowStatus = {
  state: 'off',
  newRecords: 0,
  newErrors: 0,
  linesPerSecond: 0,
  lagMs: null,
  reason: null,
};

export const FIND_NOTHING: FindStatus = {
  query: null,
  isSearching: false,
  index: null,
  total: null,
  message: null,
};

const NOTHING_SCANNED: ScanTotals = { scannedBytes: 0, reachedMs: null };

export const NO_SCANS: LogState['scans'] = { older: NOTHING_SCANNED, newer: NOTHING_SCANNED };

export const INITIAL: LogState = {
  rows: [],
  generation: 0,
  anchor: null,
  focusedKey: null,
  top: { kind: 'more' },
  bottom: { kind: 'more' },
  follow: FOLLOW_OFF,
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
  isAtEnd: false,
  positions: { older: null, newer: null },
  scans: NO_SCANS,
  scrollTo: null,
  reports: NO_REPORTS,
};
