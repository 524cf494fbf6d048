import { ArchiveError } from '../archive-error.ts';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { quote, quoteInteger, quoteName } from '../clickhouse/quote.ts';
import { readFeatures, type ServerFeatures } from './server-features.ts';
import {
  changeTtl,
  createTables,
  extendProgress,
  LOCAL_RECORDS,
  progressTables,
  RECORDS,
  type SchemaOptions,
  ttlClause,
  VERSIONS,
} from './tables.ts';

/** Of the tables this version writes and reads. */
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
  const statements = from < SCHEMA_VERSION ? await planTables(clickhouse, options, features) : [];
  if (statements.length > 0) {
    const table = `${quoteName(options.database)}.${quoteName(VERSIONS)}`;
    const values = `(${SCHEMA_VERSION}, ${quoteInteger(nowMs)})`;
    statements.push(`INSERT INTO ${table} (version, applied_ms) VALUES ${values}`);
  } else if (features.hasTtl && !(await hasTtl(clickhouse, options))) {
    statements.push(changeTtl(options, features));
  }
  return { from, to: SCHEMA_VERSION, statements, features };
}

/** Creates tables that are missing, and adds columns to those that are older. */
async function planTables(clickhouse: ClickHouse, options: SchemaOptions, features: ServerFeatures): Promise<string[]> {
  const statements = createTables(options, features);
  for (const table of progressTables(options)) {
    const place = `database = ${quote(clickhouse.database)} AND table = ${quote(table)}`;
    const sql = `SELECT name FROM system.columns WHERE ${place}`;
    const columns = await clickhouse.query<{ name: string }>(sql, { withoutDatabase: true });
    statements.push(
      ...extendProgress({ table, existing: new Set(columns.map(({ name }) => name)) }, options, features),
    );
  }
  return statements;
}

/** Runs a plan. One that was interrupted is simply made anew. */
export async function migrate(clickhouse: ClickHouse, { statements }: Migration): Promise<void> {
  for (const sql of statements) await clickhouse.execute(sql, { withoutDatabase: true });
}

/** The version of the tables; 0 if there are none. */
export async function readSchemaVersion(clickhouse: ClickHouse): Promise<number> {
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
