import { ArchiveError } from '../archive-error.ts';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { quote, quoteInteger, quoteName } from '../clickhouse/quote.ts';
import {
  addColumns,
  changeTtl,
  createTables,
  KEY_COLUMNS,
  LOCAL_RECORDS,
  missingColumns,
  RECORDS,
  type SchemaOptions,
  tableColumns,
  ttlClause,
  VERSIONS,
} from './tables.ts';

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
export interface ServerFeatures {
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
