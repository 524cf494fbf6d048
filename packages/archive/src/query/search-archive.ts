import {
  type AroundRequest,
  type ClusterEnd,
  type ClusterItem,
  type ClusterRecord,
  fileSource,
  type MemberSelection,
  PortholeError,
  pickMembers,
} from '@porthole/contract';
import {
  decodeCursor,
  invalidCursor,
  packCursor,
  readInteger,
  readList,
  readText,
  readTime,
  unpackCursor,
} from '@porthole/logs';
import { fieldJson } from '@porthole/logs/query';
import type { FoundRecord, SearchQuery } from '@porthole/logs/types';
import { quote, quoteInteger, quoteTime } from '../clickhouse/quote.ts';
import { type ArchiveOptions, type PreparedQuery, prepareQuery, type QueryDeps } from './prepare-query.ts';
import { archiveMembership, NodeTally } from './reports.ts';
import {
  type DecodedRow,
  decodeRow,
  HAS_TEXT_NAMES,
  hasTextNames,
  RECORD_COLUMNS,
  type RecordRow,
} from './row-columns.ts';
import { divideRange, type Window, windowToSql } from './windows.ts';

type ArchiveSearch = SearchQuery & MemberSelection;

/** Searches the archive by time, an empty batch first and the `end` last. */
export async function* searchArchive(
  deps: QueryDeps,
  request: ArchiveSearch,
  options: ArchiveOptions = {},
): AsyncGenerator<ClusterItem[], void, undefined> {
  const { order, limit } = request;
  const start = readStart(request);
  const prepared = await prepareQuery(deps, request, options);
  yield [];
  const tally = new NodeTally();
  const newestFirst = order === 'newest';
  const range = startRange(prepared.range, start, newestFirst);
  let emitted = 0;
  let progress: WindowProgress = { position: start, isDone: false };
  let current: Window | undefined;
  for (const window of divideRange(range, { newestFirst, likely: prepared.likely })) {
    if (emitted >= limit || prepared.run.isOver) break;
    current = window;
    progress = { position: undefined, isDone: false };
    const search = { window, order, after: start && 'key' in start ? start : undefined, wanted: () => limit - emitted };
    for await (const rows of searchRows(prepared, search, progress)) {
      emitted += rows.length;
      for (const row of rows) {
        tally.add(row.row.node);
        tally.note(row);
      }
      const records = rows.map((row) => toClusterRecord(row, request));
      yield request.before + request.after > 0 ? await addContext(prepared, request, { rows, records }) : records;
    }
  }
  const isEmpty = range.fromMs >= range.toMs;
  const isLast = current !== undefined && !hasMore(current, range, newestFirst);
  const isWhole = isEmpty || (isLast && progress.isDone && !prepared.run.isOver);
  const reached = isWhole ? undefined : reachedPosition(progress, current ?? range, newestFirst);
  const covered = coveredRange(prepared, { range, reached, newestFirst, start });
  const end: ClusterEnd = {
    type: 'end',
    reason: isWhole ? 'exhausted' : prepared.run.isOver ? 'time budget' : 'limit',
    records: emitted,
    scannedBytes: 0,
    skippedBytes: 0,
    coveredFromMs: covered?.fromMs ?? null,
    coveredToMs: covered?.toMs ?? null,
    elapsedMs: prepared.run.elapsedMs,
    members: tally.reports(prepared, covered),
    membership: archiveMembership(prepared),
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
  { likely }: PreparedQuery,
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

function shownRecord(
  { raw: text, ...record }: FoundRecord,
  { raw = false, fields }: Pick<SearchQuery, 'raw' | 'fields'>,
): FoundRecord {
  return {
    ...record,
    ...(raw && text !== undefined && { raw: text }),
    ...(fields && fields.length > 0 && { fields: fieldJson(record, fields) }),
  };
}

/** If the engine decides, more rows are read than wanted; at a time so many. */
const MIN_CANDIDATES = 1000;
const MAX_CANDIDATES = 20_000;

interface WindowSearch {
  window: Window;
  order: Order;
  /** Where it continues; `undefined`: at the start of the window. */
  after: SearchPosition | undefined;
  /** How many more are wanted. */
  wanted(): number;
}

/** How far a window was read. */
interface WindowProgress {
  /** The last row that was read, whether it matches or not. */
  position: SearchPosition | undefined;
  /** Nothing is left in the window. */
  isDone: boolean;
}

/** Matching rows of a window in order, in batches; `progress` is kept up to date with each. */
async function* searchRows(
  prepared: PreparedQuery,
  { window, order, after, wanted }: WindowSearch,
  progress: WindowProgress,
): AsyncGenerator<DecodedRow[], void, undefined> {
  const { run, table, where, filter } = prepared;
  progress.position = after;
  let isStrict = false;
  let candidates = filter ? Math.max(MIN_CANDIDATES, wanted()) : wanted();
  while (wanted() > 0 && !run.isOver) {
    const behind = progress.position ? ` AND ${positionToSql(progress.position, order)}` : '';
    const named = isStrict ? ` AND ${HAS_TEXT_NAMES}` : '';
    const sql =
      `SELECT ${RECORD_COLUMNS} FROM ${table} WHERE ${where} AND ${windowToSql(window)}${behind}${named} ` +
      `ORDER BY ${orderToSql(order)} LIMIT ${candidates}`;
    let read = 0;
    for await (const all of run.rows<RecordRow>(sql)) {
      const bad = isStrict ? -1 : all.findIndex((row) => !hasTextNames(row));
      const rows = bad < 0 ? all : all.slice(0, bad);
      read += rows.length;
      const decoded = rows.map(decodeRow);
      const matching = (filter ? await filter(decoded) : decoded).slice(0, wanted());
      const isAll = matching.length < wanted();
      const end = isAll ? rows.at(-1) : matching.at(-1)?.row;
      if (end) progress.position = { key: end };
      if (matching.length > 0) yield matching;
      if (wanted() <= 0) return;
      if (bad < 0) continue;
      // Testing the names of all rows costs more than reading: only once somebody has written such.
      isStrict = true;
      break;
    }
    if (run.isOver) return;
    if (isStrict && named === '') continue;
    if (read < candidates) {
      progress.isDone = true;
      return;
    }
    candidates = filter ? Math.min(MAX_CANDIDATES, candidates * 2) : wanted();
  }
}

/** Neighbours are near in time; those that are not take reading more of the log. */
const SPANS_MS = [3_600_000, 24 * 3_600_000, Infinity];

interface Found {
  rows: readonly DecodedRow[];
  records: readonly ClusterRecord[];
}

/** Adds the records before and after each, whatever they contain. Not after the budget has ended. */
async function addContext(
  prepared: PreparedQuery,
  query: Pick<SearchQuery, 'before' | 'after' | 'raw' | 'fields'>,
  { rows, records }: Found,
): Promise<ClusterRecord[]> {
  const found: ClusterRecord[] = [];
  for (const [index, record] of records.entries()) {
    const row = rows[index]?.row;
    if (!row || prepared.run.isOver) {
      found.push(record);
      continue;
    }
    const [before, after] = [
      await neighbours(prepared, row, { ...query, count: query.before, isBefore: true }),
      await neighbours(prepared, row, { ...query, count: query.after, isBefore: false }),
    ];
    found.push({
      ...record,
      ...(query.before > 0 && { before: before.reverse() }),
      ...(query.after > 0 && { after }),
    });
  }
  return found;
}

interface Side extends Pick<SearchQuery, 'raw' | 'fields'> {
  count: number;
  isBefore: boolean;
}

/** Nearest first: in the same file by position, then in other files of the log by time. */
async function neighbours(prepared: PreparedQuery, row: RecordRow, side: Side): Promise<FoundRecord[]> {
  const { count, isBefore } = side;
  if (count === 0) return [];
  const [sign, direction] = isBefore ? ['<', 'DESC'] : ['>', 'ASC'];
  const file = quote(row.file_id);
  const isNext =
    `((file_id = ${file} AND file_offset ${sign} ${quoteInteger(row.file_offset)}) OR ` +
    `(file_id != ${file} AND time_ms ${sign}= ${quoteTime(row.time_ms)}))`;
  for (const spanMs of SPANS_MS) {
    const near =
      spanMs === Infinity
        ? '1'
        : `time_ms BETWEEN ${quoteTime(row.time_ms - spanMs)} AND ${quoteTime(row.time_ms + spanMs)}`;
    const rows = await prepared.run.all<RecordRow>(
      `SELECT ${RECORD_COLUMNS} FROM ${prepared.table} WHERE ${prepared.logs} AND node = ${quote(row.node)} ` +
        `AND log = ${quote(row.log)} AND ${near} AND ${isNext} ` +
        `ORDER BY file_id = ${file} DESC, if(file_id = ${file}, 0, time_ms) ${direction}, file_id, file_offset ${direction} ` +
        `LIMIT ${quoteInteger(count)}`,
    );
    if (rows.length >= count || spanMs === Infinity || prepared.run.isOver)
      return rows.map((each) => shownRecord(decodeRow(each).record, side));
  }
  return [];
}

export type Order = SearchQuery['order'];

/** What identifies a record, in the order of a search. */
type RowKey = Pick<RecordRow, 'time_ms' | 'node' | 'log' | 'file_id' | 'file_offset'>;

/** Where a search continues: behind a record, or behind everything newer (older) than a time. */
export type SearchPosition = { key: RowKey } | { timeMs: number };

/** Independent of the node that made it. */
export function encodeArchiveCursor(order: Order, position: SearchPosition): string {
  if (!('key' in position)) return packCursor({ kind: 'archive', order }, [position.timeMs]);
  const { time_ms, node, log, file_id, file_offset } = position.key;
  return packCursor({ kind: 'archive', order }, [time_ms, node, log, file_id, file_offset]);
}

/** Names of nodes, logs and files are shorter. */
const MAX_NAME = 1024;

/** Throws CURSOR_INVALID for anything `encodeArchiveCursor` did not make for this order. */
export function decodeArchiveCursor(text: string, order: Order): SearchPosition {
  const [time, ...key] = unpackCursor({ kind: 'archive', order }, text);
  const time_ms = readTime(time);
  if (!Number.isInteger(time_ms)) throw invalidCursor();
  if (key.length === 0) return { timeMs: time_ms };
  const [node, log, fileId, offset] = readList(key, 4);
  const names = { node: readText(node, MAX_NAME), log: readText(log, MAX_NAME), file_id: readText(fileId, MAX_NAME) };
  return { key: { time_ms, ...names, file_offset: readInteger(offset) } };
}

/** By time; of records with the same time by node and log, as the merge of nodes has them. */
function orderToSql(order: Order): string {
  const direction = order === 'newest' ? 'DESC' : 'ASC';
  return `time_ms ${direction}, node, log, file_id, file_offset ${direction}`;
}

/** Rows behind a position. */
function positionToSql(position: SearchPosition, order: Order): string {
  const sign = order === 'newest' ? '<' : '>';
  if ('timeMs' in position) return `time_ms ${order === 'newest' ? '<' : '>='} ${quoteTime(position.timeMs)}`;
  const { time_ms, node, log, file_id, file_offset } = position.key;
  const time = quoteTime(time_ms);
  const names = `(${[node, log, file_id].map(quote).join(', ')})`;
  return (
    `(time_ms ${sign} ${time} OR (time_ms = ${time} AND ((node, log, file_id) > ${names} OR ` +
    `((node, log, file_id) = ${names} AND file_offset ${sign} ${quoteInteger(file_offset)}))))`
  );
}

/** A few rows of each node, found by their time: an archive that takes longer does not respond. The route has no budget. */
const AROUND_MS = 10_000;

/**
 * Emits the archived records of every node around a record or time, oldest first: those closest to it, half of the limit
 * before it and the rest after it. An empty batch comes first, the `end` last; it has no cursor.
 */
export async function* searchAroundArchive(
  deps: QueryDeps,
  request: AroundRequest,
  given: ArchiveOptions = {},
): AsyncGenerator<ClusterItem[], void, undefined> {
  const options = { budgetMs: AROUND_MS, ...given };
  const { at, beforeMs, afterMs, limit } = request;
  const atMs = 'timeMs' in at ? Math.ceil(at.timeMs) : await fetchRecordTime(deps, at, options);
  const range = { fromMs: atMs - beforeMs, toMs: atMs + afterMs + 1 };
  const prepared = await prepareQuery(deps, { ...pickMembers(request), ...range }, options);
  yield [];
  const half = Math.floor(limit / 2);
  const sides = [
    { window: { fromMs: Math.ceil(range.fromMs), toMs: atMs }, order: 'newest' as const, count: half },
    { window: { fromMs: atMs, toMs: Math.ceil(range.toMs) }, order: 'oldest' as const, count: limit - half },
  ];
  const tally = new NodeTally();
  let isLimited = false;
  let records = 0;
  for (const side of sides) {
    const rows = await nearest(prepared, side);
    const perNode = new Map<string, number>();
    for (const decoded of rows) {
      const { node } = decoded.row;
      tally.add(node);
      tally.note(decoded);
      perNode.set(node, (perNode.get(node) ?? 0) + 1);
    }
    isLimited ||= [...perNode.values()].some((count) => count >= side.count);
    records += rows.length;
    const inOrder = side.order === 'newest' ? rows.reverse() : rows;
    if (inOrder.length > 0) yield inOrder.map((row) => toClusterRecord(row, {}));
  }
  yield [
    {
      type: 'end',
      reason: prepared.run.isOver ? 'time budget' : isLimited ? 'limit' : 'exhausted',
      records,
      scannedBytes: 0,
      skippedBytes: 0,
      coveredFromMs: null,
      coveredToMs: null,
      elapsedMs: prepared.run.elapsedMs,
      members: tally.reports(prepared, null),
      membership: archiveMembership(prepared),
      problems: tally.problems(),
      cursor: null,
    },
  ];
}

interface AroundSide {
  window: Window;
  order: 'newest' | 'oldest';
  /** Maximum of each node. */
  count: number;
}

async function nearest(
  { run, table, where }: PreparedQuery,
  { window, order, count }: AroundSide,
): Promise<DecodedRow[]> {
  if (count === 0) return [];
  const rows = await run.all<RecordRow>(
    `SELECT ${RECORD_COLUMNS} FROM ${table} WHERE ${where} AND ${windowToSql(window)} ` +
      `ORDER BY ${orderToSql(order)} LIMIT ${quoteInteger(count)} BY node`,
  );
  return rows.map(decodeRow);
}

/** The own time of an archived record; of one without a time, that of the record before it. */
async function fetchRecordTime(
  deps: QueryDeps,
  { node, cursor }: { node: string; cursor: string },
  options: ArchiveOptions,
): Promise<number> {
  const mark = decodeCursor(cursor).at(-1);
  const { ceilings: _ceilings, ids: _ids, ...call } = options;
  const prepared = await prepareQuery(deps, { nodes: [node], ...(mark && { src: [fileSource(mark.file)] }) }, call);
  const [row] = await prepared.run.all<{ time_ms: number }>(
    `SELECT time_ms FROM ${prepared.table} WHERE ${prepared.where} AND file_offset = ${quoteInteger(mark?.offset ?? 0)} ` +
      `AND startsWith(mark, ${quote(mark?.headHash ?? '')}) AND time_ms != 0 ORDER BY time_ms DESC LIMIT 1`,
  );
  if (prepared.run.isOver) throw prepared.run.silent();
  if (!row) throw new PortholeError('CURSOR_GONE', `the archive has no such record of "${node}", or none with a time`);
  return row.time_ms;
}
