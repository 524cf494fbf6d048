import type { MemberReport } from '@porthole/client';
import type { Problem } from '../../state/to-problem.ts';
import { type Page, type PagePosition, recordKey, type ShownRecord } from '../source/log-source.ts';
import { bringIntoView } from './bring-into-view.ts';
import { FIRST_RECORDS } from './load-pages.ts';
import { type Direction, EDGES, type LogAction, type LogState, type ScanTotals } from './log-state.ts';
import { addReports, mergeDuplicates, mergeProblems, type RequestKind, worstReports } from './reports.ts';
import { RowBuffer, recordRow } from './row-buffer.ts';
import type { Edge, Row } from './workspace-state.ts';

type ActionOf<Type extends LogAction['type']> = Extract<LogAction, { type: Type }>;

export function startShowing(state: LogState, { position, nowMs }: ActionOf<'show-started'>): LogState {
  const loading: Edge = { kind: 'loading', sinceMs: nowMs, scannedBytes: 0, reachedMs: null };
  return {
    ...state,
    contextKey: null,
    isAtEnd: false,
    ...(position !== 'start' && { top: loading }),
    ...(position !== 'end' && { bottom: loading }),
  };
}

/** The rows around a position, replacing all others. */
export function showPages(state: LogState, { newer, older, options }: ActionOf<'shown'>): LogState {
  // Newer first: for records of the same millisecond that order is the right one.
  const after = RowBuffer.EMPTY.append((newer?.records ?? []).map(recordRow));
  const buffer = after.prepend((older?.records ?? []).map(recordRow));
  const scans = { older: firstScan(state.scans.older, older), newer: firstScan(state.scans.newer, newer) };
  const isStopped =
    (older !== null && state.top.kind === 'stopped') || (newer !== null && state.bottom.kind === 'stopped');
  const next: LogState = {
    ...state,
    failure: null,
    buffer,
    focusedKey: null,
    scrollTo: options,
    positions: { older: nextPosition(older), newer: nextPosition(newer) },
    isAtEnd: newer === null,
    scans,
    top: firstEdge(older, scans.older, isStopped),
    bottom: firstEdge(newer, scans.newer, isStopped),
  };
  const firstNewer = newer?.records.find((record) => buffer.has(recordKey(record)));
  const isAwaited = options.near !== undefined && newer?.records.length === 0 && newer.next !== null;
  return scrollToTarget(mergeReports(next, [newer, older]), firstNewer, isAwaited);
}

/** Whether a first page found too little although there is more. */
export function isFew(page: Page | null): boolean {
  return page !== null && page.next !== null && page.records.length < FIRST_RECORDS;
}

export function failToShow(state: LogState, failure: Problem): LogState {
  const edge: Edge = { kind: 'failed', code: failure.code, detail: failure.detail };
  return {
    ...state,
    failure,
    buffer: RowBuffer.EMPTY,
    positions: { older: null, newer: null },
    focusedKey: null,
    anchor: null,
    top: edge,
    bottom: edge,
  };
}

/** One more page at an edge; excess rows are dropped at the other one. */
export function addPage(state: LogState, { direction, page, next }: ActionOf<'page-loaded'>): LogState {
  const rows = page.records.map(recordRow);
  const isOlder = direction === 'older';
  const grown = isOlder ? state.buffer.prepend(rows) : state.buffer.append(rows);
  const loaded = mergeReports(
    {
      ...state,
      buffer: grown,
      positions: { ...state.positions, [direction]: next },
      scans: { ...state.scans, [direction]: addScan(state.scans[direction], page) },
    },
    [page],
  );
  const trimmed = trim(loaded, isOlder ? 'newer' : 'older');
  if (!isOlder && (page.records.length > 0 || page.next === null)) return scrollToTarget(trimmed, page.records[0]);
  return state.buffer.rows.length === 0 ? scrollToTarget(trimmed) : trimmed;
}

/** Loading edges can be continued. */
export function stopLoading(state: LogState): LogState {
  return { ...state, top: stoppedEdge(state.top), bottom: stoppedEdge(state.bottom) };
}

function stoppedEdge(edge: Edge): Edge {
  if (edge.kind !== 'loading') return edge;
  return { kind: 'stopped', scannedBytes: edge.scannedBytes, reachedMs: edge.reachedMs };
}

/** Followed rows at the end; none if other rows are shown meanwhile. */
export function appendLive(state: LogState, rows: readonly Row[]): LogState {
  if (rows.length === 0 || !state.isAtEnd) return state;
  const next = trim({ ...state, buffer: state.buffer.append(rows) }, 'older');
  return state.buffer.rows.length === 0 ? scrollToTarget(next) : next;
}

/** Shows the end, with the rows that arrived while paused. */
export function resumeAtEnd(state: LogState, rows: readonly Row[]): LogState {
  const next = appendLive(state, rows);
  const key = rows.at(-1)?.key ?? next.buffer.rows.at(-1)?.key;
  return { ...next, focusedKey: null, anchor: key === undefined ? null : { key, align: 'bottom' } };
}

/** Rows were inserted: excess rows are dropped at the start while following, otherwise at the farther end. */
export function trimAround(state: LogState, key: string): LogState {
  const { rows } = state.buffer;
  const isNearEnd = state.isAtEnd || rows.findIndex((row) => row.key === key) * 2 > rows.length;
  return trim(state, isNearEnd ? 'older' : 'newer');
}

/** Drops excess rows in this direction; its edge then continues after the last row left. */
function trim(state: LogState, direction: Direction): LogState {
  const { buffer, focusedKey } = state;
  const trimmed = direction === 'older' ? buffer.trimStart(focusedKey) : buffer.trimEnd(focusedKey);
  if (trimmed === buffer) return state;
  const record = direction === 'older' ? trimmed.first : trimmed.last;
  return {
    ...state,
    buffer: trimmed,
    positions: { ...state.positions, [direction]: record ? { next: record } : null },
    isAtEnd: state.isAtEnd && direction !== 'newer',
    [EDGES[direction]]: { kind: 'more' },
  };
}

/** Brings something into view as soon as there are rows. While newer rows are awaited, older ones are shown. */
function scrollToTarget(state: LogState, firstNewer?: ShownRecord, isAwaited = false): LogState {
  const { scrollTo, buffer } = state;
  if (!scrollTo) return state;
  if (buffer.rows.length === 0) return { ...state, anchor: null };
  const options = isAwaited ? { ...scrollTo, isFocused: false } : scrollTo;
  const target = bringIntoView(buffer, { options, firstNewer, generation: state.generation + 1 });
  return { ...state, scrollTo: isAwaited ? scrollTo : null, ...target };
}

export function reportMembers(state: LogState, kind: RequestKind, more: readonly MemberReport[]): LogState {
  if (more.length === 0) return state;
  const reports = addReports(state.reports, kind, more);
  return { ...state, reports, members: worstReports(reports) };
}

function mergeReports(state: LogState, pages: readonly (Page | null)[]): LogState {
  const loaded = pages.filter((page) => page !== null);
  const reported = loaded.flatMap(({ members }) => members);
  return {
    ...reportMembers(state, 'page', reported),
    problems: mergeProblems(
      state.problems,
      loaded.flatMap(({ problems }) => problems),
    ),
    duplicates: mergeDuplicates(
      state.duplicates,
      loaded.flatMap(({ duplicates }) => duplicates),
    ),
  };
}

function addScan(totals: ScanTotals, { scannedBytes, reachedMs }: Page): ScanTotals {
  return { scannedBytes: totals.scannedBytes + scannedBytes, reachedMs: reachedMs ?? totals.reachedMs };
}

function firstScan(totals: ScanTotals, page: Page | null): ScanTotals {
  const fresh = { ...totals, reachedMs: null };
  return page ? addScan(fresh, page) : fresh;
}

/** The edge after the first page; without a page there is nothing in this direction. */
function firstEdge(page: Page | null, totals: ScanTotals, isStopped: boolean): Edge {
  if (page === null || page.next === null) return { kind: 'done', scannedBytes: totals.scannedBytes };
  return isStopped && isFew(page) ? { kind: 'stopped', ...totals } : { kind: 'more' };
}

/** An edge with everything scanned, not only by the last run. */
export function completeEdge(edge: Edge, { scannedBytes, reachedMs }: ScanTotals): Edge {
  if (edge.kind === 'done') return { ...edge, scannedBytes };
  if (edge.kind !== 'loading' && edge.kind !== 'stopped') return edge;
  return { ...edge, scannedBytes, reachedMs: edge.reachedMs ?? reachedMs };
}

function nextPosition(page: Page | null): PagePosition | null {
  return page === null || page.next === null ? null : { page: page.next };
}
