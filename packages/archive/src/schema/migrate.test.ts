import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ArchiveRow, recordToRow, rowToRecord } from '../testing/archive-row.ts';
import { startClickHouse, type TestClickHouse } from '../testing/server.ts';
import { checkSchema, createTables, dropOldDays, migrate, planMigration } from './schema.ts';

const NOW_MS = Date.UTC(2026, 5, 10);

let server: TestClickHouse;

beforeAll(async () => {
  server = await startClickHouse();
});

afterAll(() => server.stop());

function connect() {
  return server.connect({ database: server.newDatabase() });
}

async function createdDatabase(keepDays?: number) {
  const clickhouse = connect();
  await migrate(clickhouse, await planMigration(clickhouse, { database: clickhouse.database, keepDays }, NOW_MS));
  return clickhouse;
}

it('creates the tables once, and then has nothing to do', async () => {
  const clickhouse = connect();
  const options = { database: clickhouse.database };
  const plan = await planMigration(clickhouse, options, NOW_MS);
  expect(plan).toMatchObject({ from: 0, to: 2 });
  await expect(checkSchema(clickhouse)).rejects.toThrow(/has no tables: run "porthole archive init"/);
  await migrate(clickhouse, plan);
  await migrate(clickhouse, plan);
  await checkSchema(clickhouse);
  expect(await planMigration(clickhouse, options, NOW_MS)).toMatchObject({ from: 2, statements: [] });
});

it('adds columns to tables of version 1, and goes on where it was interrupted', async () => {
  const clickhouse = await createdDatabase();
  const options = { database: clickhouse.database };
  const added = ['gone_files', 'gone_to_ms', 'disk_from_ms', 'disorder_ms', 'untimed', 'labels'];
  for (const column of added) await clickhouse.execute(`ALTER TABLE progress DROP COLUMN ${column}`);
  await clickhouse.execute('TRUNCATE TABLE porthole_schema');
  await clickhouse.execute('INSERT INTO porthole_schema (version, applied_ms) VALUES (1, 1)');
  const body = Buffer.from(JSON.stringify({ cluster: 'c', node: 'n', log: 'a.log', records: 7 }));
  await clickhouse.insert('INSERT INTO progress FORMAT JSONEachRow', { body });
  await expect(checkSchema(clickhouse)).rejects.toThrow(/tables of version 1, and 2 is needed/);
  await clickhouse.execute('ALTER TABLE progress ADD COLUMN gone_files UInt64');
  await migrate(clickhouse, await planMigration(clickhouse, options, NOW_MS));
  await checkSchema(clickhouse);
  const read = 'SELECT records, gone_files, labels FROM progress FINAL';
  expect(await clickhouse.query(read)).toEqual([{ records: 7, gone_files: 0, labels: '' }]);
});

it.each([
  ['a column', 'ALTER TABLE records DROP COLUMN context', 'ADD COLUMN context String'],
  ['a computed column', 'ALTER TABLE records DROP COLUMN message', 'ADD COLUMN message String ALIAS'],
  ['a column of the progress', 'ALTER TABLE progress DROP COLUMN gone_files', 'ADD COLUMN gone_files UInt64'],
  ['the records', 'DROP TABLE records', 'CREATE TABLE IF NOT EXISTS'],
  ['the progress', 'DROP TABLE progress', 'CREATE TABLE IF NOT EXISTS'],
])('adds what is missing in tables of this version: %s', async (_what, lose, repair) => {
  const clickhouse = await createdDatabase();
  const options = { database: clickhouse.database };
  await clickhouse.execute(lose);
  const plan = await planMigration(clickhouse, options, NOW_MS);
  expect(plan.from).toBe(2);
  expect(plan.statements.join(' ')).toContain(repair);
  await migrate(clickhouse, plan);
  expect(await planMigration(clickhouse, options, NOW_MS)).toMatchObject({ from: 2, statements: [] });
});

it('refuses a table that is not its own', async () => {
  const clickhouse = await createdDatabase();
  const options = { database: clickhouse.database };
  await clickhouse.execute('DROP TABLE records');
  await clickhouse.execute('CREATE TABLE records (day Date, text String) ENGINE = MergeTree(day, text, 8192)');
  await expect(planMigration(clickhouse, options, NOW_MS)).rejects.toMatchObject({ code: 'ARCHIVE_SCHEMA' });
});

it('refuses tables of a newer version', async () => {
  const clickhouse = await createdDatabase();
  await clickhouse.execute('INSERT INTO porthole_schema (version, applied_ms) VALUES (7, 1)');
  const error = { code: 'ARCHIVE_SCHEMA', message: expect.stringContaining('tables of version 7') as string };
  await expect(checkSchema(clickhouse)).rejects.toMatchObject(error);
  await expect(planMigration(clickhouse, { database: clickhouse.database }, NOW_MS)).rejects.toMatchObject(error);
});

it('a row is stored and read as it was, and a later one with the same key replaces it', async () => {
  const clickhouse = await createdDatabase();
  const raw = '2026-06-09 10:00:00.000\tINFO\ta.go:1\t[x]: "quotes" \\ and ü\t{"n":1e400}';
  const record = {
    type: 'record' as const,
    file: 'a.log',
    offset: 2 ** 40,
    bytes: 99,
    cursor: `0123456789abcdef.s.${(2 ** 40).toString(36)}.1z141z3.1s.${Buffer.from('a.log').toString('base64url')}`,
    timeMs: Date.UTC(2026, 5, 9, 10),
    level: 'INFO' as const,
    source: 'a.go:1',
    tags: ['x'],
    message: '"quotes" \\ and ü',
    context: { n: Infinity },
    contextText: '{"n":1e400}',
    raw,
  };
  const place = { cluster: 'c', node: 'n', role: 'r', log: 'a.log', fileId: 'id', previousMs: 0, shippedMs: NOW_MS };
  const rows = [
    recordToRow(record, place),
    recordToRow({ ...record, bytes: 100 }, { ...place, shippedMs: NOW_MS + 1 }),
  ];
  const insert = 'INSERT INTO records FORMAT JSONEachRow';
  for (const row of rows) await clickhouse.insert(insert, { body: Buffer.from(JSON.stringify(row)) });
  const [found, ...more] = await clickhouse.query<ArchiveRow>('SELECT * FROM records FINAL');
  expect(more).toEqual([]);
  expect(found).toEqual(rows[1]);
  expect(rowToRecord(found as ArchiveRow)).toEqual({ ...record, bytes: 100 });
  expect(await clickhouse.query('SELECT DISTINCT message, toString(time) AS time FROM records')).toEqual([
    { message: record.message, time: '2026-06-09 10:00:00' },
  ]);
});

it('days that are no longer kept are dropped', async () => {
  const clickhouse = await createdDatabase(7);
  const days = ['2026-06-01', '2026-06-02', '2026-06-03', '2026-06-10'];
  const body = Buffer.from(days.map((day) => JSON.stringify({ day, line: day })).join('\n'));
  await clickhouse.insert('INSERT INTO records FORMAT JSONEachRow', { body });
  const options = { database: clickhouse.database, keepDays: 7 };
  expect(await dropOldDays(clickhouse, options, NOW_MS)).toEqual(['2026-06-01', '2026-06-02']);
  expect(await clickhouse.query('SELECT count() AS n FROM records')).toEqual([{ n: 2 }]);
});

it('with a ClickHouse cluster the tables are replicated and distributed, with a TTL where the server has it', () => {
  const features = { version: '24.8.1', hasTtl: true, hasKeeper: true, hasAsyncInsert: true };
  const [, versions, local, , all] = createTables({ database: 'logs', cluster: 'main', keepDays: 30 }, features);
  expect(versions).toContain("ReplicatedMergeTree('/clickhouse/tables/all/porthole_schema/logs', '{replica}')");
  expect(local).toContain('CREATE TABLE IF NOT EXISTS `logs`.`records_local` ON CLUSTER `main` (');
  expect(local).toContain(
    "ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/records_local/logs', '{replica}', shipped_ms)",
  );
  expect(local).toContain('TTL day + toIntervalDay(30)');
  expect(all).toContain('Distributed(`main`, `logs`, `records_local`, cityHash64(cluster, node, log))');
});
