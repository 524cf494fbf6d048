import {
  type ClusterEnd,
  type ClusterItem,
  type ClusterRecord,
  type MemberSelection,
  PortholeError,
} from '@porthole/contract';
import { fieldJson } from '@porthole/logs/query';
import type { FoundRecord, SearchQuery } from '@porthole/logs/types';
import { type ArchiveOptions, type AskDeps, prepareQuestion, type Question } from '../question.ts';
import { archiveMembership, NodeTally } from '../reports.ts';
import type { DecodedRow } from '../row-columns.ts';
import { divideRange, type Window } from '../windows.ts';
import { decodeArchiveCursor, encodeArchiveCursor, type SearchPosition } from './archive-cursor.ts';
import { addContext } from './record-context.ts';
import { searchRows, type WindowProgress } from './search-rows.ts';

export type ArchiveSearch = SearchQuery & MemberSelection;

/** Searches the archive by time, an empty batch first and the `end` last. */
export async function* searchArchive(
  deps: AskDeps,
  request: ArchiveSearch,
  options: ArchiveOptions = {},
): AsyncGenerator<ClusterItem[], void, undefined> {
  const { order, limit } = request;
  const start = readStart(request);
  const question = await prepareQuestion(deps, request, options);
  yield [];
  const tally = new NodeTally();
  const newestFirst = order === 'newest';
  const range = startRange(question.range, start, newestFirst);
  let emitted = 0;
  let progress: WindowProgress = { position: start, isDone: false };
  let current: Window | undefined;
  for (const window of divideRange(range, { newestFirst, likely: question.likely })) {
    if (emitted >= limit || question.run.isOver) break;
    current = window;
    progress = { position: undefined, isDone: false };
    const search = { window, order, after: start && 'key' in start ? start : undefined, wanted: () => limit - emitted };
    for await (const rows of searchRows(question, search, progress)) {
      emitted += rows.length;
      for (const row of rows) {
        tally.add(row.row.node);
        tally.note(row);
      }
      const records = rows.map((row) => toClusterRecord(row, request));
      yield request.before + request.after > 0 ? await addContext(question, request, { rows, records }) : records;
    }
  }
  const isEmpty = range.fromMs >= range.toMs;
  const isLast = current !== undefined && !hasMore(current, range, newestFirst);
  const isWhole = isEmpty || (isLast && progress.isDone && !question.run.isOver);
  const reached = isWhole ? undefined : reachedPosition(progress, current ?? range, newestFirst);
  const covered = coveredRange(question, { range, reached, newestFirst, start });
  const end: ClusterEnd = {
    type: 'end',
    reason: isWhole ? 'exhausted' : question.run.isOver ? 'time budget' : 'limit',
    records: emitted,
    scannedBytes: 0,
    skippedBytes: 0,
    coveredFromMs: covered?.fromMs ?? null,
    coveredToMs: covered?.toMs ?? null,
    elapsedMs: question.run.elapsedMs,
    members: tally.reports(question, covered),
    membership: archiveMembership(question),
    problems: tally.problems(),
    cursor: reached === undefined ? null : encodeArchiveCursor(order, reached),
  };
  yield [end];
}

/** Positions of one node mean nothing here. */
function readStart({ start, until, order }: ArchiveSearch): SearchPosition | undefined {
  if (until !== undefined || (start && ('offset' in start || 'record' in start)))
    throw new PortholeError('PARAMETER_INVALID', 'the archive is searched from a "time" or a "cursor" of its own');
  if (start === undefined) return undefined;
  return 'timeMs' in start ? { timeMs: Math.ceil(start.timeMs) } : decodeArchiveCursor(start.cursor, order);
}

function startRange(range: Window, start: SearchPosition | undefined, newestFirst: boolean): Window {
  if (start === undefined) return range;
  if (newestFirst) {
    const toMs = 'key' in start ? start.key.time_ms + 1 : start.timeMs;
    return { ...range, toMs: Math.min(range.toMs, toMs) };
  }
  return { ...range, fromMs: Math.max(range.fromMs, 'key' in start ? start.key.time_ms : start.timeMs) };
}

/** Whether the range continues behind a window. */
function hasMore(window: Window, range: Window, newestFirst: boolean): boolean {
  return newestFirst ? window.fromMs > range.fromMs : window.toMs < range.toMs;
}

function reachedPosition({ position, isDone }: WindowProgress, window: Window, newestFirst: boolean): SearchPosition {
  if (position && !isDone) return position;
  const timeMs = isDone === newestFirst ? window.fromMs : window.toMs;
  return { timeMs: Math.min(8.64e15, Math.max(-8.64e15, timeMs)) };
}

interface CoverageFacts {
  range: Window;
  /** `undefined`: everything was read. */
  reached: SearchPosition | undefined;
  start: SearchPosition | undefined;
  newestFirst: boolean;
}

/** The own times, both ends included, of which every matching record is in this response. */
function coveredRange(
  { likely }: Question,
  { range, reached, start, newestFirst }: CoverageFacts,
): { fromMs: number; toMs: number } | null {
  if (!likely) return null;
  let fromMs = Math.max(range.fromMs, likely.fromMs);
  let toMs = Math.min(range.toMs, likely.toMs) - 1;
  // Other records of the same millisecond may be on another page.
  if (start && 'key' in start) {
    if (newestFirst) toMs = Math.min(toMs, start.key.time_ms - 1);
    else fromMs = Math.max(fromMs, start.key.time_ms + 1);
  }
  if (reached) {
    if (newestFirst) fromMs = Math.max(fromMs, 'key' in reached ? reached.key.time_ms + 1 : reached.timeMs);
    else toMs = Math.min(toMs, 'key' in reached ? reached.key.time_ms - 1 : reached.timeMs - 1);
  }
  return Number.isFinite(fromMs) && Number.isFinite(toMs) && fromMs <= toMs ? { fromMs, toMs } : null;
}

/** As a node returns it: its text and its fields only on request. */
export function toClusterRecord(
  { row, record }: DecodedRow,
  query: Pick<SearchQuery, 'raw' | 'fields'>,
): ClusterRecord {
  const shown = shownRecord(record, query);
  return row.has_time ? { node: row.node, atMs: row.time_ms, ...shown } : { node: row.node, ...shown };
}

export function shownRecord(
  { raw: text, ...record }: FoundRecord,
  { raw = false, fields }: Pick<SearchQuery, 'raw' | 'fields'>,
): FoundRecord {
  return {
    ...record,
    ...(raw && text !== undefined && { raw: text }),
    ...(fields && fields.length > 0 && { fields: fieldJson(record, fields) }),
  };
}
