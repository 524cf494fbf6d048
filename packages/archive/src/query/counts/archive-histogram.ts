import {
  type ClusterFields,
  type ClusterHistogram,
  LEVELS,
  type MemberSelection,
  mergeFields,
} from '@porthole/contract';
import { FieldTable } from '@porthole/logs';
import { recordFields } from '@porthole/logs/query';
import type { FieldsQuery, HistogramBucket, HistogramQuery } from '@porthole/logs/types';
import { quoteInteger } from '../../clickhouse/quote.ts';
import { type ArchiveOptions, type PreparedQuery, prepareQuery, type QueryDeps } from '../prepare-query.ts';
import { NodeTally } from '../reports.ts';
import { bucketOf, chooseWidth, countWindows, matchingRows } from '../windows.ts';

type LevelName = keyof HistogramBucket['counts'];

interface CountRow {
  node: string;
  level_name: string;
  has_time: 0 | 1;
  bucket: number;
  n: number;
}

/** Counts of archived records per bucket of time, level and node. */
export async function archiveHistogram(
  deps: QueryDeps,
  request: HistogramQuery & MemberSelection,
  options: ArchiveOptions = {},
): Promise<ClusterHistogram> {
  const prepared = await prepareQuery(deps, request, options);
  const bucketMs = await chooseWidth(prepared, request);
  const tally = new NodeTally();
  const buckets = new Map<number, { counts: Map<LevelName, number>; nodes: Map<string, number> }>();
  let untimed = 0;
  const counted = await countWindows(prepared, options, async (isInside) => {
    const { decided, undecided, run } = prepared;
    const rows = decided ? await run.all<CountRow>(countSql(prepared, `${decided} AND ${isInside}`, bucketMs)) : [];
    if (undecided) rows.push(...(await countRows(prepared, { where: undecided, isInside, bucketMs, tally })));
    // Parts of a sum would look like all of it.
    if (prepared.run.isOver) return;
    for (const { node, level_name, has_time, bucket: index, n } of rows) {
      tally.add(node, n);
      if (!has_time) {
        untimed += n;
        continue;
      }
      const bucket = buckets.get(index) ?? { counts: new Map(), nodes: new Map() };
      buckets.set(index, bucket);
      add(bucket.counts, toLevel(level_name), n);
      add(bucket.nodes, node, n);
    }
  });
  return {
    bucketMs,
    buckets: [...buckets]
      .sort(([a], [b]) => a - b)
      .map(([index, { counts, nodes }]) => ({
        startMs: index * bucketMs,
        counts: Object.fromEntries(counts),
        nodes: Object.fromEntries(nodes),
      })),
    untimed,
    counted,
    members: tally.reports(prepared, counted),
  };
}

function countSql({ table }: PreparedQuery, isCounted: string, bucketMs: number): string {
  return (
    `SELECT node, level_name, has_time, bucket, count() AS n FROM (` +
    `SELECT node, substring(level, 1, 16) AS level_name, has_time, if(has_time = 1, ${bucketOf(bucketMs)}, toInt64(0)) AS bucket ` +
    `FROM ${table} WHERE ${isCounted}) GROUP BY node, level_name, has_time, bucket`
  );
}

interface CountOptions {
  where: string;
  isInside: string;
  bucketMs: number;
  tally: NodeTally;
}

/** The same counts of rows that the engine decides about. */
async function countRows(
  prepared: PreparedQuery,
  { where, isInside, bucketMs, tally }: CountOptions,
): Promise<CountRow[]> {
  const counts = new Map<string, CountRow>();
  for await (const rows of matchingRows(prepared, isInside, where)) {
    for (const decoded of rows) {
      const { node, level_name, has_time, time_ms } = decoded.row;
      tally.note(decoded);
      const bucket = has_time ? Math.floor(time_ms / bucketMs) : 0;
      const key = `${bucket} ${has_time} ${level_name} ${node}`;
      const known = counts.get(key);
      if (known) known.n++;
      else counts.set(key, { node, level_name, has_time, bucket, n: 1 });
    }
  }
  return [...counts.values()];
}

function toLevel(name: string): LevelName {
  return LEVELS.find((level) => level === name) ?? 'NONE';
}

function add<K>(counts: Map<K, number>, key: K, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

/**
 * About this much of a range with more text is examined: every record is parsed completely, in this thread. It is some
 * 8,000 records, of which a field that one in a thousand has is missed once in 3,000 times.
 */
const MAX_SAMPLE_BYTES = 1024 ** 2;

/** Maximum fields of a node. */
const MAX_FIELDS = 1000;

/** The fields of archived records; of many, those of an even sample. */
export async function archiveFields(
  deps: QueryDeps,
  request: FieldsQuery & MemberSelection,
  options: ArchiveOptions = {},
): Promise<ClusterFields> {
  const prepared = await prepareQuery(deps, request, options);
  const every = await sampleEvery(prepared);
  const isChosen = every > 1 ? ` AND cityHash64(file_id, file_offset) % ${quoteInteger(every)} = 0` : '';
  const tally = new NodeTally();
  const tables = new Map<string, FieldTable>();
  const counted = await countWindows(prepared, options, async (isInside) => {
    for await (const rows of matchingRows(prepared, isInside + isChosen)) {
      for (const decoded of rows) {
        const { node } = decoded.row;
        const table = tables.get(node) ?? new FieldTable();
        tables.set(node, table);
        table.count(recordFields(decoded.record));
        tally.add(node);
        tally.note(decoded);
      }
    }
  });
  const sources = [...tables]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, table]) => {
      const { records } = table;
      const fields = table.summaries(MAX_FIELDS);
      return { id, fields: { fields, totalFields: table.totalFields(), records, isSample: every > 1 } };
    });
  return { ...mergeFields(sources, request), counted, members: tally.reports(prepared, counted) };
}

/** One of so many records is examined. Duplicates only make it a little more. */
async function sampleEvery({ run, anyTable, scope }: PreparedQuery): Promise<number> {
  const [sum] = await run.all<{ text_bytes: number }>(
    `SELECT sum(bytes) AS text_bytes FROM ${anyTable} WHERE ${scope}`,
  );
  return Math.max(1, Math.ceil((sum?.text_bytes ?? 0) / MAX_SAMPLE_BYTES));
}
