import { quote, quoteInteger, quoteName } from '../clickhouse/quote.ts';
import type { ServerFeatures } from './migrate.ts';

export const RECORDS = 'records';
/** The table of one server, where `records` spans several. */
export const LOCAL_RECORDS = 'records_local';
/** How far each node has shipped each of its logs: small, whatever the archive contains. */
export const PROGRESS = 'progress';
const LOCAL_PROGRESS = 'progress_local';
export const VERSIONS = 'porthole_schema';

export interface SchemaOptions {
  database: string;
  /** Name of the ClickHouse cluster, if there are several servers. */
  cluster?: string | undefined;
  /** Records are deleted when their day is older than so many days; absent: never. */
  keepDays?: number | undefined;
}

/** A row is a record, as the text and the parts of it. */
const COLUMNS: readonly string[] = [
  'cluster String',
  'node String',
  'role String',
  // The family.
  'log String',
  // Name of the file when the record was shipped.
  'file String',
  // Identifies the text of the file, through rotation, compression and restarts.
  'file_id String',
  // What the cursor begins with: hash and length of the start of the file.
  'mark String',
  'file_offset UInt64',
  'bytes UInt32',
  // The checksum in the cursor.
  'cursor_check UInt32',
  // The partition.
  'day Date',
  // A record without a time has that of the record before it, so that it stays among its neighbours; 0 if none has one.
  'time_ms Int64',
  'has_time UInt8',
  'level String',
  'source String',
  'tags Array(String)',
  // The text of the record, without its last line break.
  'line String',
  // Where the message is in `line`: bytes before and behind it. Both are 0 if it is in `message_text`.
  'message_at UInt32',
  'message_tail UInt32',
  // The message if it is not part of the line.
  'message_text String',
  // JSON as written in the log; empty if there is none.
  'context String',
  'cut UInt8',
  'continued UInt8',
  // Version: of rows with the same key, the highest counts.
  'shipped_ms UInt64',
  `message String ALIAS if(message_text = '', substring(line, message_at + 1, length(line) - message_at - message_tail), message_text)`,
  'time DateTime ALIAS toDateTime(intDiv(time_ms, 1000))',
];

const PROGRESS_COLUMNS: readonly string[] = [
  'cluster String',
  'node String',
  'role String',
  'log String',
  // Times of the oldest and the newest record that was shipped; 0 if none has one.
  'from_ms Int64',
  'last_ms Int64',
  // Every record with a time before it is in the archive.
  'shipped_to_ms Int64',
  'records UInt64',
  'bytes UInt64',
  'lost_bytes UInt64',
  'losses UInt64',
  'written_ms UInt64',
];

const VERSION_COLUMNS: readonly string[] = ['version UInt32', 'applied_ms UInt64'];

/** Columns that version 2 has added. */
const PROGRESS_COLUMNS_2 = [
  // Files that are no longer on disk, and of which records were shipped; the time of the newest of these records.
  'gone_files UInt64',
  'gone_to_ms Int64',
  // The oldest time on disk when this was written; 0 if there is none.
  'disk_from_ms Int64',
  // By how much times of records went back at most, and how many records have none.
  'disorder_ms UInt64',
  'untimed UInt64',
  // Labels of the node, as JSON.
  'labels String',
];

/** What a row of `records` stores. */
export const STORED_COLUMNS: readonly string[] = COLUMNS.filter((column) => !column.includes(' ALIAS ')).map(nameOf);

/** Rows with the same values are the same record; the one shipped last counts. */
export const KEY_COLUMNS = ['cluster', 'node', 'log', 'time_ms', 'file_id', 'file_offset'] as const;

/** Statements that create the tables that are missing. */
export function createTables(options: SchemaOptions, features: ServerFeatures): string[] {
  const { database, cluster, keepDays } = options;
  const isSpread = cluster !== undefined;
  const everywhere = onCluster(options, features);
  const table = (name: string) => `${quoteName(database)}.${quoteName(name)}${everywhere}`;
  const engine = (kind: string, path: string, more = '') => {
    if (everywhere === '') return `${kind}MergeTree(${more})`;
    const where = quote(`/clickhouse/tables/${path}/${database}`);
    return `Replicated${kind}MergeTree(${[where, quote('{replica}'), ...(more === '' ? [] : [more])].join(', ')})`;
  };
  const columns = `(\n  ${COLUMNS.join(',\n  ')}\n)`;
  const progress = `(\n  ${[...PROGRESS_COLUMNS, ...PROGRESS_COLUMNS_2].join(',\n  ')}\n)`;
  const ttl = features.hasTtl && keepDays !== undefined ? `\n${ttlClause(keepDays)}` : '';
  const statements = [
    `CREATE DATABASE IF NOT EXISTS ${quoteName(database)}${everywhere}`,
    `CREATE TABLE IF NOT EXISTS ${table(VERSIONS)} (${VERSION_COLUMNS.join(', ')})
ENGINE = ${engine('', `all/${VERSIONS}`)} ORDER BY version`,
    `CREATE TABLE IF NOT EXISTS ${table(isSpread ? LOCAL_RECORDS : RECORDS)} ${columns}
ENGINE = ${engine('Replacing', `{shard}/${LOCAL_RECORDS}`, 'shipped_ms')}
PARTITION BY day
ORDER BY (${KEY_COLUMNS.join(', ')})${ttl}`,
    `CREATE TABLE IF NOT EXISTS ${table(isSpread ? LOCAL_PROGRESS : PROGRESS)} ${progress}
ENGINE = ${engine('Replacing', `{shard}/${LOCAL_PROGRESS}`, 'written_ms')}
ORDER BY (cluster, node, log)`,
  ];
  if (isSpread) {
    // All rows of a log on one server: their duplicates meet there.
    const spread = (local: string) => {
      const place = [quoteName(cluster), quoteName(database), quoteName(local), 'cityHash64(cluster, node, log)'];
      return `ENGINE = Distributed(${place.join(', ')})`;
    };
    statements.push(
      `CREATE TABLE IF NOT EXISTS ${table(RECORDS)} ${columns}\n${spread(LOCAL_RECORDS)}`,
      `CREATE TABLE IF NOT EXISTS ${table(PROGRESS)} ${progress}\n${spread(LOCAL_PROGRESS)}`,
    );
  }
  return statements;
}

/** A server without ZooKeeper runs statements by itself. */
function onCluster({ cluster }: SchemaOptions, { hasKeeper }: ServerFeatures): string {
  return cluster !== undefined && hasKeeper ? ` ON CLUSTER ${quoteName(cluster)}` : '';
}

/** What each table must have. */
export function tableColumns({ cluster }: SchemaOptions): ReadonlyMap<string, readonly string[]> {
  const progress = [...PROGRESS_COLUMNS, ...PROGRESS_COLUMNS_2];
  const tables: [string, readonly string[]][] = [
    [VERSIONS, VERSION_COLUMNS],
    [RECORDS, COLUMNS],
    [PROGRESS, progress],
  ];
  // First the tables of the servers, then those over them.
  if (cluster !== undefined) tables.unshift([LOCAL_RECORDS, COLUMNS], [LOCAL_PROGRESS, progress]);
  return new Map(tables);
}

/** The columns that a table lacks, by name and with their types. Old servers cannot find out by themselves. */
export function missingColumns(columns: readonly string[], existing: ReadonlySet<string>): Map<string, string> {
  return new Map(columns.map((column) => [nameOf(column), column] as const).filter(([name]) => !existing.has(name)));
}

export function addColumns(
  table: string,
  columns: Iterable<string>,
  options: SchemaOptions,
  features: ServerFeatures,
): string {
  const added = [...columns].map((column) => `ADD COLUMN ${column}`).join(', ');
  return `ALTER TABLE ${quoteName(options.database)}.${quoteName(table)}${onCluster(options, features)} ${added}`;
}

/** Days that old servers can store and that somebody may mean: rows of other times are in the partition they were shipped on. */
export const FIRST_DAY_MS = Date.UTC(1971, 0, 1);
export const LAST_DAY_MS = Date.UTC(2100, 0, 1);

/** The partition of a row, `YYYY-MM-DD`: its day, or the one it was shipped on. */
export function rowDay(timeMs: number, shippedMs: number): string {
  const isUsual = timeMs >= FIRST_DAY_MS && timeMs < LAST_DAY_MS;
  return new Date(isUsual ? timeMs : shippedMs).toISOString().slice(0, 10);
}

function nameOf(column: string): string {
  return column.split(' ')[0] ?? '';
}

/** Changes how long records are kept, where the server deletes them itself. */
export function changeTtl(options: SchemaOptions, features: ServerFeatures): string {
  const { database, cluster, keepDays } = options;
  const table = `${quoteName(database)}.${quoteName(cluster === undefined ? RECORDS : LOCAL_RECORDS)}`;
  return `ALTER TABLE ${table}${onCluster(options, features)} ${keepDays === undefined ? 'REMOVE TTL' : `MODIFY ${ttlClause(keepDays)}`}`;
}

export function ttlClause(keepDays: number): string {
  return `TTL day + toIntervalDay(${quoteInteger(keepDays)})`;
}
