import type { Migration } from '@porthole/archive';
import { StartError } from '../errors.ts';
import { loadSettings, type SettingsSources } from '../settings/load-settings.ts';

const DAY_MS = 86_400_000;

export interface InitResult extends Pick<Migration, 'from' | 'to' | 'statements'> {
  /** Where: URL and database. */
  target: string;
  /** Days whose records were deleted because they are older than `archive.keep`, where the server does not do it by itself. */
  droppedDays: string[];
}

/** Creates or upgrades the tables of the archive the settings name; with `dryRun`, only says how. */
export async function initArchive(sources: SettingsSources, { dryRun }: { dryRun: boolean }): Promise<InitResult> {
  const { settings } = await loadSettings(sources);
  const { url, database, user, passwordFile, caFile, cluster, keepMs } = settings.archive;
  if (url === '') throw new StartError('archive.url is not set: it is the URL of the ClickHouse server');
  const { ClickHouse, dropOldDays, migrate, planMigration } = await import('@porthole/archive');
  const clickhouse = new ClickHouse({
    url,
    database,
    user,
    ...(passwordFile !== '' && { passwordFile }),
    ...(caFile !== '' && { caFile }),
  });
  try {
    const keepDays = Math.ceil(keepMs / DAY_MS);
    const options = { database, keepDays, ...(cluster !== '' && { cluster }) };
    // clock: when tables were made
    const migration = await planMigration(clickhouse, options, Date.now());
    if (!dryRun) await migrate(clickhouse, migration);
    const { from, to, statements, features } = migration;
    // clock: which days are too old
    const droppedDays = dryRun || features.hasTtl ? [] : await dropOldDays(clickhouse, options, Date.now());
    return { target: `database ${database} at ${clickhouse.shownUrl}`, from, to, statements, droppedDays };
  } finally {
    clickhouse.close();
  }
}
