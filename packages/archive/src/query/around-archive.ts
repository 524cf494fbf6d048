import { type AroundRequest, type ClusterItem, PortholeError } from '@porthole/contract';
import { decodeCursor } from '@porthole/logs';
import { quote, quoteInteger } from '../clickhouse/quote.ts';
import { type ArchiveOptions, type PreparedQuery, prepareQuery, type QueryDeps } from './prepare-query.ts';
import { archiveMembership, NodeTally } from './reports.ts';
import { type DecodedRow, decodeRow, RECORD_COLUMNS, type RecordRow } from './row-columns.ts';
import { orderToSql, toClusterRecord } from './search-archive.ts';
import { type Window, windowToSql } from './windows.ts';

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
  const { at, beforeMs, afterMs, limit, nodes, role } = request;
  const selection = { ...(nodes && { nodes }), ...(role !== undefined && { role }) };
  const atMs = 'timeMs' in at ? Math.ceil(at.timeMs) : await fetchRecordTime(deps, at, options);
  const range = { fromMs: atMs - beforeMs, toMs: atMs + afterMs + 1 };
  const prepared = await prepareQuery(deps, { ...selection, ...range }, options);
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

interface Side {
  window: Window;
  order: 'newest' | 'oldest';
  /** Maximum of each node. */
  count: number;
}

async function nearest({ run, table, where }: PreparedQuery, { window, order, count }: Side): Promise<DecodedRow[]> {
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
  const prepared = await prepareQuery(deps, { nodes: [node], ...(mark && { file: mark.file }) }, call);
  const [row] = await prepared.run.all<{ time_ms: number }>(
    `SELECT time_ms FROM ${prepared.table} WHERE ${prepared.where} AND file_offset = ${quoteInteger(mark?.offset ?? 0)} ` +
      `AND startsWith(mark, ${quote(mark?.headHash ?? '')}) AND time_ms != 0 ORDER BY time_ms DESC LIMIT 1`,
  );
  if (prepared.run.isOver) throw prepared.run.silent();
  if (!row) throw new PortholeError('CURSOR_GONE', `the archive has no such record of "${node}", or none with a time`);
  return row.time_ms;
}
