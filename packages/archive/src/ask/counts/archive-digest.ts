import { type ClusterDigest, LEVELS, type MemberSelection } from '@porthole/contract';
import { messageShape } from '@porthole/logs';
import type { DigestQuery, Level } from '@porthole/logs/types';
import { quote, quoteInteger } from '../../clickhouse/quote.ts';
import { type ArchiveOptions, type AskDeps, prepareQuestion, type Question } from '../question.ts';
import { NodeTally } from '../reports.ts';
import { type DecodedRow, decodeRow, MESSAGE, RECORD_COLUMNS, type RecordRow } from '../row-columns.ts';
import { toClusterRecord } from '../search/search-archive.ts';
import { quoteTime } from '../sql/quote-time.ts';
import { countWindows, matchingRows } from './count-windows.ts';
import { type ArchivedGroup, GroupTable, type NewestKey } from './group-table.ts';

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
  deps: AskDeps,
  request: DigestQuery & MemberSelection,
  options: ArchiveOptions = {},
): Promise<ClusterDigest> {
  const question = await prepareQuestion(deps, request, options);
  const table = new GroupTable();
  const tally = new NodeTally();
  const counted = await countWindows(question, options, async (isInside) => {
    const { decided, undecided, run } = question;
    if (decided)
      for await (const rows of run.rows<GroupRow>(groupSql(question, `${decided} AND ${isInside}`)))
        for (const row of rows) {
          tally.add(row.node, row.n);
          table.count(toGroup(row));
        }
    if (undecided)
      for await (const rows of matchingRows(question, isInside, undecided))
        for (const row of rows) countRow(row, table, tally);
  });
  const { newSinceMs = Infinity, onlyNew = false, limit } = request;
  const isNew = ({ firstMs }: ArchivedGroup) => firstMs !== null && firstMs >= newSinceMs;
  const all = table.largestFirst().filter((group) => !onlyNew || isNew(group));
  const shown = all.slice(0, limit);
  const samples = await fetchSamples(question, shown);
  return {
    groups: shown.flatMap((group) => {
      const sample = samples.get(keyText(group.newestNode, group.newest));
      if (!sample) return [];
      const { level, source, shape, count, firstMs, lastMs, nodes } = group;
      const facts = { level, source, shape, count, firstMs, lastMs, isNew: isNew(group) };
      return [{ ...facts, sample: toClusterRecord(sample, {}), nodes: Object.fromEntries(nodes) }];
    }),
    totalGroups: all.length,
    ungrouped: table.ungrouped,
    members: tally.reports(question, counted),
  };
}

function groupSql({ table }: Question, isCounted: string): string {
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

function countRow(decoded: DecodedRow, table: GroupTable, tally: NodeTally): void {
  const { row, record } = decoded;
  const { node, has_time, time_ms, log, file_id, file_offset } = row;
  tally.add(node);
  tally.note(decoded);
  const { level = null, source = null, timeMs = null } = record;
  table.count({
    level: level as Level | null,
    source,
    shape: source === null ? messageShape(record.message) : null,
    count: 1,
    firstMs: timeMs,
    lastMs: timeMs,
    newest: [has_time, time_ms, log, file_id, file_offset],
    newestNode: node,
    nodes: new Map([[node, 1]]),
  });
}

/** The newest record of each group. */
async function fetchSamples(question: Question, groups: readonly ArchivedGroup[]): Promise<Map<string, DecodedRow>> {
  const samples = new Map<string, DecodedRow>();
  if (groups.length === 0) return samples;
  const { run, table, scope } = question;
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
