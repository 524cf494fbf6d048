import { ArchiveError } from '../archive-error.ts';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { quote, quoteInteger, quoteName } from '../clickhouse/quote.ts';

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
const KEY_COLUMNS = ['cluster', 'node', 'log', 'time_ms', 'file_id', 'file_offset'] as const;

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
function tableColumns({ cluster }: SchemaOptions): ReadonlyMap<string, readonly string[]> {
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
function missingColumns(columns: readonly string[], existing: ReadonlySet<string>): Map<string, string> {
  return new Map(columns.map((column) => [nameOf(column), column] as const).filter(([name]) => !existing.has(name)));
}

function addColumns(
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
function changeTtl(options: SchemaOptions, features: ServerFeatures): string {
  const { database, cluster, keepDays } = options;
  const table = `${quoteName(database)}.${quoteName(cluster === undefined ? RECORDS : LOCAL_RECORDS)}`;
  return `ALTER TABLE ${table}${onCluster(options, features)} ${keepDays === undefined ? 'REMOVE TTL' : `MODIFY ${ttlClause(keepDays)}`}`;
}

function ttlClause(keepDays: number): string {
  return `TTL day + toIntervalDay(${quoteInteger(keepDays)})`;
}

/** Version of the tables that are written and read. */
export const SCHEMA_VERSION = 2;

/** What has to be run, in this order. Nothing if the tables are as they should be. */
export interface Migration {
  /** Version of the tables now; 0: there are none. */
  from: number;
  to: number;
  statements: string[];
  features: ServerFeatures;
}

/** Finds out what is to be done; changes nothing. */
export async function planMigration(clickhouse: ClickHouse, options: SchemaOptions, nowMs: number): Promise<Migration> {
  const features = await readFeatures(clickhouse);
  const from = await readSchemaVersion(clickhouse);
  if (from > SCHEMA_VERSION) throw newerSchema(clickhouse, from);
  const statements = await planTables(clickhouse, options, features);
  if (from < SCHEMA_VERSION) {
    const table = `${quoteName(options.database)}.${quoteName(VERSIONS)}`;
    const values = `(${SCHEMA_VERSION}, ${quoteInteger(nowMs)})`;
    statements.push(`INSERT INTO ${table} (version, applied_ms) VALUES ${values}`);
  } else if (statements.length === 0 && features.hasTtl && !(await hasTtl(clickhouse, options))) {
    statements.push(changeTtl(options, features));
  }
  return { from, to: SCHEMA_VERSION, statements, features };
}

/** Creates tables that are missing, and adds columns that they lack, whatever their version says. */
async function planTables(clickhouse: ClickHouse, options: SchemaOptions, features: ServerFeatures): Promise<string[]> {
  const sql = `SELECT table, name FROM system.columns WHERE database = ${quote(options.database)}`;
  const existing = new Map<string, Set<string>>();
  for (const { table, name } of await clickhouse.query<{ table: string; name: string }>(sql, { withoutDatabase: true }))
    existing.set(table, (existing.get(table) ?? new Set()).add(name));
  const tables = [...tableColumns(options)];
  const statements = tables.every(([table]) => existing.has(table)) ? [] : createTables(options, features);
  for (const [table, columns] of tables) {
    const missing = missingColumns(columns, existing.get(table) ?? new Set());
    if (!existing.has(table) || missing.size === 0) continue;
    const key = KEY_COLUMNS.find((name) => missing.has(name));
    if (key !== undefined)
      throw new ArchiveError(
        'ARCHIVE_SCHEMA',
        `${options.database}.${table} at ${clickhouse.shownUrl} has no column ${key}: it is no table of Porthole`,
      );
    statements.push(addColumns(table, missing.values(), options, features));
  }
  return statements;
}

/** Runs a plan. One that was interrupted is simply made anew. */
export async function migrate(clickhouse: ClickHouse, { statements }: Migration): Promise<void> {
  for (const sql of statements) await clickhouse.execute(sql, { withoutDatabase: true });
}

/** The version of the tables; 0 if there are none. */
async function readSchemaVersion(clickhouse: ClickHouse): Promise<number> {
  const database = quote(clickhouse.database);
  const exists = `SELECT count() AS found FROM system.tables WHERE database = ${database} AND name = ${quote(VERSIONS)}`;
  const [tables] = await clickhouse.query<{ found: number }>(exists, { withoutDatabase: true });
  if (!tables?.found) return 0;
  const [row] = await clickhouse.query<{ version: number }>(`SELECT max(version) AS version FROM ${VERSIONS}`);
  return row?.version ?? 0;
}

/** Refuses tables that this version does not know how to use. */
export async function checkSchema(clickhouse: ClickHouse): Promise<void> {
  const version = await readSchemaVersion(clickhouse);
  if (version === SCHEMA_VERSION) return;
  if (version > SCHEMA_VERSION) throw newerSchema(clickhouse, version);
  const state = version === 0 ? 'has no tables' : `has tables of version ${version}, and ${SCHEMA_VERSION} is needed`;
  throw new ArchiveError(
    'ARCHIVE_SCHEMA',
    `database ${clickhouse.database} at ${clickhouse.shownUrl} ${state}: run "porthole archive init"`,
  );
}

function newerSchema({ database, shownUrl }: ClickHouse, version: number): ArchiveError {
  return new ArchiveError(
    'ARCHIVE_SCHEMA',
    `database ${database} at ${shownUrl} has tables of version ${version}, this version of Porthole knows ` +
      `${SCHEMA_VERSION}: upgrade this node`,
  );
}

async function hasTtl(clickhouse: ClickHouse, { cluster, keepDays }: SchemaOptions): Promise<boolean> {
  const name = cluster === undefined ? RECORDS : LOCAL_RECORDS;
  const sql = `SELECT create_table_query AS text FROM system.tables WHERE database = ${quote(clickhouse.database)} AND name = ${quote(name)}`;
  const [row] = await clickhouse.query<{ text: string }>(sql, { withoutDatabase: true });
  const text = row?.text ?? '';
  return keepDays === undefined ? !/\bTTL day\b/.test(text) : text.includes(ttlClause(keepDays));
}

/** What differs between versions and setups of ClickHouse, as far as it matters here. */
interface ServerFeatures {
  version: string;
  /** Old rows are deleted by the server itself. */
  hasTtl: boolean;
  /** It can replicate tables, and run statements on all servers of its cluster. */
  hasKeeper: boolean;
  /** It collects small inserts of many clients. */
  hasAsyncInsert: boolean;
}

export async function readFeatures(clickhouse: ClickHouse): Promise<ServerFeatures> {
  const sql = `SELECT version() AS version,
  (SELECT count() FROM system.tables WHERE database = 'system' AND name = 'zookeeper') AS keepers`;
  const [row] = await clickhouse.query<{ version: string; keepers: number }>(sql, { withoutDatabase: true });
  const { version = '', keepers = 0 } = row ?? {};
  const [hasTtl, hasAsyncInsert] = [isAtLeast(version, 19, 6), isAtLeast(version, 21, 12)];
  return { version, hasTtl, hasAsyncInsert, hasKeeper: Number(keepers) > 0 };
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [foundMajor = 0, foundMinor = 0] = version.split('.').map(Number);
  return foundMajor > major || (foundMajor === major && foundMinor >= minor);
}

const DAY_MS = 86_400_000;

/**
 * Drops the partitions of days that are no longer kept, for servers that do not do it themselves. Returns the days. A
 * server with `cluster` drops its own part: run it on each.
 */
export async function dropOldDays(
  clickhouse: ClickHouse,
  { database, cluster, keepDays }: SchemaOptions,
  nowMs: number,
): Promise<string[]> {
  if (keepDays === undefined) return [];
  const table = cluster === undefined ? RECORDS : LOCAL_RECORDS;
  const oldest = new Date(nowMs - keepDays * DAY_MS).toISOString().slice(0, 10);
  const sql = `SELECT DISTINCT partition AS day FROM system.parts
WHERE database = ${quote(database)} AND table = ${quote(table)} AND active AND partition < ${quote(oldest)} ORDER BY day`;
  const days = (await clickhouse.query<{ day: string }>(sql)).map(({ day }) => day);
  for (const day of days) {
    await clickhouse.execute(`ALTER TABLE ${quoteName(database)}.${quoteName(table)} DROP PARTITION ${quote(day)}`);
  }
  return days;
}
