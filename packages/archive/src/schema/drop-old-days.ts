import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { quote, quoteName } from '../clickhouse/quote.ts';
import { LOCAL_RECORDS, RECORDS, type SchemaOptions } from './tables.ts';

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
