import type { MemberReport } from '@porthole/client';
import type { Problem } from '../../state/to-problem.ts';
import type { RecordKey } from '../../state/view.ts';
import {
  type Direction,
  isShown,
  type Page,
  type PagePosition,
  type RowFilter,
  recordKey,
  type ShownRecord,
} from '../source/log-source.ts';
import { foldKey, foldRows } from './fold-rows.ts';
import { RowBuffer, recordRow } from './row-buffer.ts';
import {
  EDGES,
  type Edge,
  FIRST_RECORDS,
  type GapRange,
  INITIAL,
  type RequestKind,
  type Row,
  type ScanTotals,
  type ShowOptions,
  type WorkspaceState,
} from './workspace-state.ts';

/** The state after a change, with the rows that follow from it. Pure: requests and timers belong to those who make the changes. */
export function changed(state: WorkspaceState, part: Partial<WorkspaceState>): WorkspaceState {
  const next = { ...state, ...part };
  const isSame = next.buffer === state.buffer && next.members === state.members && next.bottom === state.bottom;
  const rows = isSame
    ? next.rows
    : withRecordedRows(next.buffer.rows, next.members, { bottom: next.bottom.kind, toMs: next.filter.toMs });
  const { isFolding, focusedKey, expanded } = next;
  const { matcher } = next.find;
  const isFoldedSame =
    isFolding === state.isFolding &&
    (!isFolding || (focusedKey === state.focusedKey && expanded === state.expanded && matcher === state.find.matcher));
  if (isSame && isFoldedSame) return next;
  return { ...next, rows, shown: isFolding ? foldRows(rows, { focusedKey, expanded, matcher }) : rows };
}

/** Other logs. Generations keep counting, so that the view notices the new rows. */
export function opened({ generation, isFolding }: WorkspaceState, filter: RowFilter): WorkspaceState {
  return { ...INITIAL, generation, isFolding, filter };
}

/** Opens or closes, in place: a run of repeated lines, or else all lines of a record. */
export function toggled({ shown, expanded: before }: WorkspaceState, key: string, part?: 'lines') {
  const row = shown.find((candidate) => candidate.key === key);
  const run = part !== 'lines' && row?.kind === 'record' ? row.folded : undefined;
  const expanded = new Set(before);
  // A run may have grown since it was opened: by then another row was its first.
  const known = (run ? run.map((other) => foldKey(other.key)) : [key]).filter((one) => expanded.delete(one));
  if (known.length === 0) expanded.add(run ? foldKey(key) : key);
  return { expanded };
}

/** All rows are being replaced by those at a position. */
export function startShowing(position: PagePosition, nowMs: number): Partial<WorkspaceState> {
  const loading: Edge = { kind: 'loading', sinceMs: nowMs, scannedBytes: 0, reachedMs: null };
  return {
    contextKey: null,
    isAtEnd: false,
    isShowing: true,
    ...(position !== 'start' && { top: loading }),
    ...(position !== 'end' && { bottom: loading }),
  };
}

/** The rows around a position, replacing all others. */
export function showPages(
  state: WorkspaceState,
  { newer, older, options }: { newer: Page | null; older: Page | null; options: ShowOptions },
): WorkspaceState {
  // Newer first: for records of the same millisecond that order is the right one.
  const after = RowBuffer.EMPTY.append((newer?.records ?? []).map(recordRow));
  const buffer = after.prepend((older?.records ?? []).map(recordRow));
  const scans = { older: firstScan(state.scans.older, older), newer: firstScan(state.scans.newer, newer) };
  const isStopped =
    (older !== null && state.top.kind === 'stopped') || (newer !== null && state.bottom.kind === 'stopped');
  const next: WorkspaceState = {
    ...state,
    failure: null,
    isShowing: false,
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

function firstScan(totals: ScanTotals, page: Page | null): ScanTotals {
  const fresh = { ...totals, reachedMs: null };
  return page ? addScan(fresh, page) : fresh;
}

function addScan(totals: ScanTotals, { scannedBytes, reachedMs }: Page): ScanTotals {
  return { scannedBytes: totals.scannedBytes + scannedBytes, reachedMs: reachedMs ?? totals.reachedMs };
}

/** The edge after the first page; without a page there is nothing in this direction. */
function firstEdge(page: Page | null, totals: ScanTotals, isStopped: boolean): Edge {
  if (page === null || page.next === null) return { kind: 'done', scannedBytes: totals.scannedBytes };
  return isStopped && isFew(page) ? { kind: 'stopped', ...totals } : { kind: 'more' };
}

/** Whether a first page found too little although there is more. */
export function isFew(page: Page | null): boolean {
  return page !== null && page.next !== null && page.records.length < FIRST_RECORDS;
}

function nextPosition(page: Page | null): PagePosition | null {
  return page === null || page.next === null ? null : { page: page.next };
}

export function failToShow(failure: Problem): Partial<WorkspaceState> {
  const edge: Edge = { kind: 'failed', code: failure.code, detail: failure.detail };
  const nothing = { buffer: RowBuffer.EMPTY, positions: INITIAL.positions, focusedKey: null, anchor: null };
  return { ...nothing, failure, isShowing: false, top: edge, bottom: edge };
}

/** One more page at an edge; excess rows are dropped at the other one. */
export function addPage(
  state: WorkspaceState,
  direction: Direction,
  page: Page,
  next: PagePosition | null,
): WorkspaceState {
  const rows = page.records.map(recordRow);
  const isOlder = direction === 'older';
  const loaded = {
    ...state,
    buffer: isOlder ? state.buffer.prepend(rows) : state.buffer.append(rows),
    positions: { ...state.positions, [direction]: next },
    scans: { ...state.scans, [direction]: addScan(state.scans[direction], page) },
  };
  const trimmed = trim(mergeReports(loaded, [page]), isOlder ? 'newer' : 'older');
  if (!isOlder && (page.records.length > 0 || page.next === null)) return scrollToTarget(trimmed, page.records[0]);
  return state.buffer.rows.length === 0 ? scrollToTarget(trimmed) : trimmed;
}

/** An edge with everything scanned, not only by the last run. */
export function setEdge({ scans }: WorkspaceState, direction: Direction, edge: Edge): Partial<WorkspaceState> {
  const { scannedBytes, reachedMs } = scans[direction];
  const isScanned = edge.kind === 'loading' || edge.kind === 'stopped';
  const all = isScanned ? { ...edge, scannedBytes, reachedMs: edge.reachedMs ?? reachedMs } : edge;
  return { [EDGES[direction]]: edge.kind === 'done' ? { ...edge, scannedBytes } : all };
}

/** Loading edges can be continued. */
export function stopEdges({ top, bottom }: WorkspaceState): Partial<WorkspaceState> {
  const stopped = (edge: Edge): Edge => {
    if (edge.kind !== 'loading') return edge;
    return { kind: 'stopped', scannedBytes: edge.scannedBytes, reachedMs: edge.reachedMs };
  };
  return { top: stopped(top), bottom: stopped(bottom) };
}

/** Followed rows at the end; none if other rows are shown meanwhile. */
export function appendLive(state: WorkspaceState, rows: readonly Row[]): WorkspaceState {
  if (rows.length === 0 || !state.isAtEnd) return state;
  const next = trim({ ...state, buffer: state.buffer.append(rows) }, 'older');
  return state.buffer.rows.length === 0 ? scrollToTarget(next) : next;
}

/** Shows the end, with the rows that arrived while paused. */
export function resumeAtEnd(state: WorkspaceState, rows: readonly Row[]): WorkspaceState {
  const next = appendLive(state, rows);
  const key = rows.at(-1)?.key ?? next.buffer.rows.at(-1)?.key;
  return { ...next, focusedKey: null, anchor: key === undefined ? null : { key, align: 'bottom' } };
}

/** Drops excess rows in this direction; its edge then continues after the last row left. */
function trim(state: WorkspaceState, direction: Direction): WorkspaceState {
  const { buffer, focusedKey } = state;
  const trimmed = buffer.trim(direction, focusedKey);
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
function scrollToTarget(state: WorkspaceState, firstNewer?: ShownRecord, isAwaited = false): WorkspaceState {
  const { scrollTo, buffer } = state;
  if (!scrollTo) return state;
  if (buffer.rows.length === 0) return { ...state, anchor: null };
  const { align, near } = scrollTo;
  const record = near
    ? nearestRecord(near, buffer, firstNewer)
    : align === 'bottom'
      ? buffer.last
      : (firstNewer ?? buffer.last);
  const next = { ...state, scrollTo: isAwaited ? scrollTo : null, generation: state.generation + 1 };
  if (record === undefined) return { ...next, anchor: null };
  const key = recordKey(record);
  // Nothing comes after the position: show the end.
  const isBehindAll = !near && align === 'top' && firstNewer === undefined;
  const anchor = { key, align: isBehindAll ? 'bottom' : align } as const;
  return { ...next, anchor, ...(scrollTo.isFocused && !isAwaited && { focusedKey: key }) };
}

/** The record itself if it is loaded; otherwise its neighbour that is closer in time. */
function nearestRecord(
  key: RecordKey,
  { rows, last }: RowBuffer,
  firstNewer: ShownRecord | undefined,
): ShownRecord | undefined {
  const wanted = recordKey(key);
  const itself = rows.find((row) => row.key === wanted);
  if (itself?.kind === 'record') return itself.record;
  if (!firstNewer) return last;
  const index = rows.findIndex((row) => row.key === recordKey(firstNewer));
  const before = rows.slice(0, Math.max(0, index)).findLast((row) => row.kind === 'record')?.record;
  const atMs = isShown(key) ? key.atMs : undefined;
  if (before?.atMs === undefined || firstNewer.atMs === undefined || atMs === undefined) return firstNewer;
  return atMs - before.atMs < firstNewer.atMs - atMs ? before : firstNewer;
}

/** A gap that is being loaded, or could not be loaded. */
export function updateGap({ buffer }: WorkspaceState, key: string, failure?: string): Partial<WorkspaceState> {
  const row = buffer.get(key);
  if (row?.kind !== 'gap') return {};
  const change = failure === undefined ? { isLoading: true, failure } : { isLoading: false, failure };
  return { buffer: buffer.replace(key, { ...row, ...change }) };
}

/** Records of a gap in front of it; what is still missing stays a gap. */
export function fillGap(state: WorkspaceState, key: string, page: Page): WorkspaceState {
  const row = state.buffer.get(key);
  if (row?.kind !== 'gap' || !row.range) return state;
  const { range } = row;
  const { records, isWhole } = recordsWithin(page, range);
  const last = records.at(-1) ?? page.records.at(-1);
  const filled = state.buffer.insertBefore(key, records.map(recordRow));
  const rest = { ...row, range: { ...range, after: last ?? range.after }, isLoading: false };
  const buffer =
    isWhole || !last
      ? filled.removeIf((other) => other.key === key)
      : filled.replace(key, { ...rest, text: 'More records not shown' });
  // Excess rows are dropped at the start while following, otherwise at the end that is farther away.
  const index = buffer.rows.findIndex((other) => other.key === recordKey(last ?? range.after));
  const isNearEnd = state.isAtEnd || index * 2 > buffer.rows.length;
  const trimmed = trim({ ...state, buffer }, isNearEnd ? 'older' : 'newer');
  return state.focusedKey === key ? { ...trimmed, focusedKey: null } : trimmed;
}

/** The records before the end of the gap, and whether they are complete. */
function recordsWithin({ records, next }: Page, { node, until }: GapRange) {
  const own = node === null ? records : records.filter((record) => record.node === node);
  if (until === null) return { records: own, isWhole: next === null };
  const end = own.findIndex((record) => recordKey(record) === recordKey(until) || isLater(record, until));
  return end < 0 ? { records: own, isWhole: next === null } : { records: own.slice(0, end), isWhole: true };
}

/** After it by time: with merged nodes it may be between others of the same millisecond. */
function isLater(record: ShownRecord, until: RecordKey): boolean {
  return isShown(until) && until.atMs !== undefined && record.atMs !== undefined && record.atMs > until.atMs;
}

/** The context of a record: rows that are loaded already stay; the others are inserted in log order. */
export function insertAround(
  start: RowBuffer,
  record: ShownRecord,
  { older, newer }: { older: readonly ShownRecord[]; newer: readonly ShownRecord[] },
): RowBuffer {
  const contextRow = (other: ShownRecord): Row => ({ ...recordRow(other), isContext: true });
  let buffer = start;
  const after = new Set(newer.map(recordKey));
  let nextKey = recordKey(record);
  for (const candidate of older.toReversed()) {
    const key = recordKey(candidate);
    // Records of the same millisecond may be returned on both sides.
    if (after.has(key)) continue;
    if (!buffer.has(key)) buffer = buffer.insertBefore(nextKey, [contextRow(candidate)]);
    nextKey = key;
  }
  let previousKey = recordKey(record);
  for (const candidate of newer) {
    const key = recordKey(candidate);
    if (!buffer.has(key)) {
      const following = buffer.rows[buffer.rows.findIndex((row) => row.key === previousKey) + 1];
      buffer = buffer.insertBefore(following?.key ?? '', [contextRow(candidate)]);
    }
    previousKey = key;
  }
  return buffer;
}

export function closeContext(state: WorkspaceState): WorkspaceState {
  const { contextKey, focusedKey } = state;
  if (contextKey === null) return state;
  const buffer = state.buffer.removeIf((row) => row.kind === 'record' && row.isContext === true);
  // The focus may be on a context row.
  const isFocusRemoved = focusedKey !== null && !buffer.has(focusedKey);
  return { ...state, buffer, contextKey: null, focusedKey: isFocusRemoved ? contextKey : focusedKey };
}

/** What the members of some pages reported, their problems and copies, each once. */
function mergeReports(state: WorkspaceState, pages: readonly (Page | null)[]): WorkspaceState {
  const loaded = pages.filter((page) => page !== null);
  const members = loaded.flatMap((page) => page.members);
  const problems = loaded.flatMap((page) => page.problems);
  const duplicates = loaded.flatMap((page) => page.duplicates);
  return {
    ...reportMembers(state, 'page', members),
    problems: mergeBy(({ node, file, code }) => [node, file, code], state.problems, problems),
    duplicates: mergeBy(({ node, file }) => [node, file], state.duplicates, duplicates),
  };
}

function mergeBy<T>(keyOf: (item: T) => readonly string[], known: readonly T[], more: readonly T[]): readonly T[] {
  if (more.length === 0) return known;
  return [...new Map([...known, ...more].map((item) => [JSON.stringify(keyOf(item)), item])).values()];
}

export function reportMembers(state: WorkspaceState, kind: RequestKind, more: readonly MemberReport[]): WorkspaceState {
  if (more.length === 0) return state;
  const known = new Map([...state.reports[kind], ...more.map((report) => [report.id, report] as const)]);
  const reports = { ...state.reports, [kind]: known };
  return { ...state, reports, members: worstReports(reports) };
}

/** All members by id, each with its worst report; one of which another request has read something has responded to that. */
function worstReports(reports: WorkspaceState['reports']): MemberReport[] {
  const worst = new Map<string, MemberReport>();
  for (const known of Object.values(reports))
    for (const [id, report] of known) {
      const other = worst.get(id);
      const own = other && other.outcome !== 'ok' ? other : report;
      worst.set(id, { ...own, count: Math.max(own.count, ...[other, report].map(ownCount)) });
    }
  return [...worst.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Records that it read itself: not those of its recording. */
function ownCount(report: MemberReport | undefined): number {
  return report?.asOfMs === null ? report.count : 0;
}

/**
 * Adds a row for each node that is shown by what was recorded of it, where its lines end; in front of all rows if those are
 * newer, so that the missing node is noticed. Nobody misses a node that only the archive knows: it has a row only
 * between its lines and newer ones.
 */
export function withRecordedRows(
  rows: readonly Row[],
  members: readonly MemberReport[],
  { bottom, toMs = Infinity }: { bottom: Edge['kind']; toMs?: number | undefined },
): readonly Row[] {
  const missing = members.filter(({ asOfMs }) => asOfMs !== null && asOfMs < toMs);
  if (missing.length === 0 || rows.length === 0) return rows;
  const insertions = missing.flatMap((report) => {
    const { asOfMs } = report;
    const index = rows.findIndex((row) => row.kind === 'record' && (row.record.atMs ?? -Infinity) > (asOfMs ?? 0));
    // Rows below the last one may still be older than that.
    if (index < 0 && bottom === 'more') return [];
    if (index <= 0 && isPastNode(report)) return [];
    return [{ index: index < 0 ? rows.length : index, row: recordedRow(report) }];
  });
  return insertions
    .sort((a, b) => b.index - a.index)
    .reduce<readonly Row[]>((all, { index, row }) => all.toSpliced(index, 0, row), rows);
}

function recordedRow(report: MemberReport): Row {
  const { id, outcome, asOfMs } = report;
  return {
    kind: 'gap',
    key: `recorded ${id}`,
    node: id,
    text: outcome === 'left' ? 'left the cluster' : 'stopped responding',
    isLoading: false,
    recorded: { ...report, asOfMs: asOfMs ?? 0 },
  };
}

/** A node that is no longer listed: only the archive knows it. */
function isPastNode({ outcome, archive, sinceMs = null }: MemberReport): boolean {
  return outcome === 'left' && archive !== undefined && sinceMs === null;
}
