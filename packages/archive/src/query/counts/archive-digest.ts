import { type ClusterDigest, LEVELS, type MemberSelection } from '@porthole/contract';
import { GroupTable, messageShape } from '@porthole/logs';
import type { DigestBaseline, DigestQuery, Level } from '@porthole/logs/types';
import { quote, quoteInteger, quoteTime } from '../../clickhouse/quote.ts';
import {
  type ArchiveOptions,
  type ArchiveRun,
  type PreparedQuery,
  prepareQuery,
  type QueryDeps,
} from '../prepare-query.ts';
import { NodeTally } from '../reports.ts';
import { type DecodedRow, decodeRow, MESSAGE, RECORD_COLUMNS, type RecordRow } from '../row-columns.ts';
import { toClusterRecord } from '../search-archive.ts';
import { type Counted, countWindows, matchingRows } from '../windows.ts';

/** A shape depends on 800 characters of the first line. */
const HEAD_BYTES = 4000;

const FIRST_LINE = `substring(${MESSAGE}, 1, if(position(${MESSAGE}, '\\n') > 0, least(position(${MESSAGE}, '\\n') - 1, ${HEAD_BYTES}), ${HEAD_BYTES}))`;

interface GroupRow {
  node: string;
  level_name: string;
  source_text: string;
  head: string;
  n: number;
  first_ms: number;
  last_ms: number;
  newest: NewestKey;
}

/** Archived records by level and origin, the largest groups first. The shapes of all nodes are merged together. */
export async function archiveDigest(
  deps: QueryDeps,
  request: DigestQuery & MemberSelection,
  options: ArchiveOptions = {},
): Promise<ClusterDigest> {
  const prepared = await prepareQuery(deps, request, options);
  const table = new GroupTable<ArchivedGroup>({ levelOf: ({ level }) => level, join: joinGroup });
  const tally = new NodeTally();
  const counted = await eachGroup(prepared, options, (group, decoded) => {
    tally.add(group.newestNode, group.count);
    if (decoded) tally.note(decoded);
    table.count(group);
  });
  const members = tally.reports(prepared, counted);
  const past = await readPast(deps, { request, options, counted: prepared.run }, table);
  table.mergeShapes();
  const { onlyNew = false, limit } = request;
  const isUnknown = (group: ArchivedGroup) =>
    past !== undefined && !past.isOld(group) && (!past.baseline.isComplete || group.firstMs === null);
  const isNew = (group: ArchivedGroup) => past !== undefined && !past.isOld(group) && !isUnknown(group);
  const all = table.largestFirst().filter((group) => !onlyNew || isNew(group) || isUnknown(group));
  const shown = all.slice(0, limit);
  const samples = await fetchSamples(prepared, shown);
  return {
    groups: shown.flatMap((group) => {
      const sample = samples.get(keyText(group.newestNode, group.newest));
      if (!sample) return [];
      const { level, source, shape, count, firstMs, lastMs, nodes } = group;
      const judged = { isNew: isNew(group), ...(isUnknown(group) && { isNewUnknown: true as const }) };
      const facts = { level, source, shape, count, firstMs, lastMs, ...judged };
      return [{ ...facts, sample: toClusterRecord(sample, {}), nodes: Object.fromEntries(nodes) }];
    }),
    totalGroups: all.length,
    ungrouped: table.ungrouped,
    ...(past && { baseline: past.baseline }),
    members,
  };
}

/** Calls back for the groups of matching rows, which may be of one row. */
function eachGroup(
  prepared: PreparedQuery,
  options: ArchiveOptions,
  add: (group: ArchivedGroup, decoded?: DecodedRow) => void,
): Promise<Counted> {
  return countWindows(prepared, options, async (isInside) => {
    const { decided, undecided, run } = prepared;
    if (decided)
      for await (const rows of run.rows<GroupRow>(groupSql(prepared, `${decided} AND ${isInside}`)))
        for (const row of rows) add(toGroup(row));
    if (undecided)
      for await (const rows of matchingRows(prepared, isInside, undecided))
        for (const row of rows) add(groupOfRow(row), row);
  });
}

interface PastOptions {
  request: DigestQuery & MemberSelection;
  options: ArchiveOptions;
  /** The run that counted: what it has left of the budget is for the rest. */
  counted: ArchiveRun;
}

/** Reads what the counted range lacks of the rows before `newSinceMs`. */
async function readPast(
  deps: QueryDeps,
  { request, options, counted }: PastOptions,
  table: GroupTable<ArchivedGroup>,
): Promise<{ baseline: DigestBaseline; isOld(group: ArchivedGroup): boolean } | undefined> {
  const { newSinceMs, fromMs, ...query } = request;
  if (newSinceMs === undefined) return undefined;
  let [firstMs, lost, { isOver }] = [Infinity, table.ungrouped, counted];
  if (fromMs !== undefined && !isOver) {
    const { budgetMs } = options;
    const left = { ...options, ...(budgetMs !== undefined && { budgetMs: Math.max(1, budgetMs - counted.elapsedMs) }) };
    const prepared = await prepareQuery(deps, { ...query, toMs: Math.min(fromMs, newSinceMs) }, left);
    await eachGroup(prepared, left, (group) => {
      firstMs = Math.min(firstMs, group.firstMs ?? Infinity);
      if (!table.see(group)) lost += group.count;
    });
    isOver = prepared.run.isOver;
  }
  for (const group of table.largestFirst()) firstMs = Math.min(firstMs, group.firstMs ?? Infinity);
  const detail = isOver ? 'the archive was not read to the end: time budget' : lost > 0 ? 'too many groups' : undefined;
  return {
    baseline: {
      fromMs: firstMs < newSinceMs ? firstMs : null,
      isComplete: detail === undefined,
      ...(detail !== undefined && { detail }),
    },
    isOld: (group) => group.wasSeen === true || (group.firstMs ?? Infinity) < newSinceMs,
  };
}

function groupSql({ table }: PreparedQuery, isCounted: string): string {
  const columns = [
    'node',
    'substring(level, 1, 16) AS level_name',
    'substring(source, 1, 1024) AS source_text',
    `if(source = '', ${FIRST_LINE}, '') AS head`,
    ...['has_time', 'time_ms', 'log', 'file_id', 'file_offset'],
  ];
  return (
    `SELECT node, level_name, source_text, head, count() AS n, minIf(time_ms, has_time = 1) AS first_ms, ` +
    `maxIf(time_ms, has_time = 1) AS last_ms, max((has_time, time_ms, log, file_id, file_offset)) AS newest FROM (` +
    `SELECT ${columns.join(', ')} FROM ${table} WHERE ${isCounted}) ` +
    `GROUP BY node, level_name, source_text, head`
  );
}

function toGroup({ node, level_name, source_text, head, n, first_ms, last_ms, newest }: GroupRow): ArchivedGroup {
  const [hasTime, ...key] = newest;
  return {
    level: LEVELS.find((level) => level === level_name) ?? null,
    source: source_text === '' ? null : source_text,
    shape: source_text === '' ? messageShape(head) : null,
    count: n,
    // If the newest record has no time, none has.
    firstMs: hasTime ? first_ms : null,
    lastMs: hasTime ? last_ms : null,
    newest: [hasTime, ...key],
    newestNode: node,
    nodes: new Map([[node, n]]),
  };
}

function groupOfRow({ row, record }: DecodedRow): ArchivedGroup {
  const { node, has_time, time_ms, log, file_id, file_offset } = row;
  const { level = null, source = null, timeMs = null } = record;
  return {
    level: level as Level | null,
    source,
    shape: source === null ? messageShape(record.message) : null,
    count: 1,
    firstMs: timeMs,
    lastMs: timeMs,
    newest: [has_time, time_ms, log, file_id, file_offset],
    newestNode: node,
    nodes: new Map([[node, 1]]),
  };
}

/** The newest record of each group. */
async function fetchSamples(
  prepared: PreparedQuery,
  groups: readonly ArchivedGroup[],
): Promise<Map<string, DecodedRow>> {
  const samples = new Map<string, DecodedRow>();
  if (groups.length === 0) return samples;
  const { run, table, scope } = prepared;
  const keys = groups.map(({ newestNode, newest: [, time_ms, log, file_id, file_offset] }) => {
    return `(${[quote(newestNode), quote(log), quoteTime(time_ms), quote(file_id), `toUInt64(${quoteInteger(file_offset)})`].join(', ')})`;
  });
  const sql =
    `SELECT ${RECORD_COLUMNS} FROM ${table} WHERE ${scope} AND ` +
    `(node, log, time_ms, file_id, file_offset) IN (${keys.join(', ')})`;
  for (const row of await run.all<RecordRow>(sql)) {
    const { node, has_time, time_ms, log, file_id, file_offset } = row;
    samples.set(keyText(node, [has_time, time_ms, log, file_id, file_offset]), decodeRow(row));
  }
  return samples;
}

function keyText(node: string, key: NewestKey): string {
  return JSON.stringify([node, ...key]);
}

/** Orders records by age, and identifies one of a node: has_time, time_ms, log, file_id, file_offset. */
type NewestKey = [number, number, string, string, number];

interface ArchivedGroup {
  level: Level | null;
  source: string | null;
  shape: string | null;
  count: number;
  firstMs: number | null;
  lastMs: number | null;
  newest: NewestKey;
  newestNode: string;
  nodes: Map<string, number>;
  /** There are records of it before the counted range. */
  wasSeen?: boolean;
}

function joinGroup(known: ArchivedGroup, group: ArchivedGroup): void {
  known.firstMs = pick(known.firstMs, group.firstMs, Math.min);
  known.lastMs = pick(known.lastMs, group.lastMs, Math.max);
  for (const [node, count] of group.nodes) known.nodes.set(node, (known.nodes.get(node) ?? 0) + count);
  if (!isNewer(group, known)) return;
  known.newest = group.newest;
  known.newestNode = group.newestNode;
}

/** That of the first node if both have the same age, as members are merged. */
function isNewer(one: ArchivedGroup, other: ArchivedGroup): boolean {
  for (const [index, value] of one.newest.entries()) {
    const compared = other.newest[index] ?? value;
    if (value !== compared) return value > compared;
  }
  return one.newestNode < other.newestNode;
}

function pick(a: number | null, b: number | null, choose: (a: number, b: number) => number): number | null {
  return a === null ? b : b === null ? a : choose(a, b);
}
