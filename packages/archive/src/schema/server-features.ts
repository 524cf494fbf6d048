import type { ClickHouse } from '../clickhouse/clickhouse.ts';

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
