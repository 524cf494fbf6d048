import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LogDir, Scrubbing } from '@porthole/logs';
import { eventually, SHARED_THREADS, searchItems } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { migrate, planMigration } from '../schema/schema.ts';
import { serverPorts, startClickHouse, type TestClickHouse } from '../testing/server.ts';
import { canMount, mountSmallDisk } from '../testing/small-disk.ts';
import { ClickHouseSink } from './clickhouse-sink.ts';
import { LogShipper, type ShipperOptions } from './log-shipper.ts';
import { ProgressWriter } from './progress-writer.ts';

let server: TestClickHouse;

beforeAll(async () => {
  server = await startClickHouse({ users: { writer: { password: 'right' } } });
});

afterAll(() => server.stop());

async function createDatabase(): Promise<ClickHouse> {
  const clickhouse = server.connect({ database: server.newDatabase() });
  await migrate(clickhouse, await planMigration(clickhouse, { database: clickhouse.database }, 0));
  return clickhouse;
}

async function startShipper(clickhouse: ClickHouse, options: Partial<ShipperOptions> = {}) {
  const dir = tempDir();
  const { logs = new LogDir(dir, { threads: SHARED_THREADS }), ...rest } = options;
  const node = { cluster: 'c', node: 'n', role: '' };
  const sink = new ClickHouseSink(clickhouse);
  const shipper = LogShipper.open({
    logs,
    sink,
    positionsDir: tempDir(),
    ...node,
    intervalMs: () => 30,
    settleMs: 30,
    ...rest,
  });
  onTestFinished(async () => {
    await shipper.close();
    await logs.close();
  });
  return { shipper, path: join(logs.path, 'a.log') };
}

/** Until nothing fits any more. */
function fillDisk(path: string): void {
  const block = Buffer.alloc(64 * 1024);
  try {
    for (;;) appendFileSync(path, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

const line = (index: number) =>
  `${new Date(Date.UTC(2026, 5, 1) + index * 10).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:7\tline ${index}\n`;
const lines = (count: number, from = 0) => Array.from({ length: count }, (_, index) => line(from + index)).join('');

async function countRows(clickhouse: ClickHouse): Promise<number> {
  const [row] = await clickhouse.query<{ n: number }>('SELECT count() AS n FROM records FINAL');
  return row?.n ?? 0;
}

it('an archive that is away for an hour gets everything when it is back', async () => {
  const clickhouse = await createDatabase();
  let nowMs = Date.UTC(2026, 5, 2);
  const waits: number[] = [];
  // An hour of waiting passes in a moment.
  const sleep = async (ms: number) => {
    waits.push(ms);
    nowMs += ms;
    await new Promise((resolve) => setTimeout(resolve, Math.min(ms, 10))); // pause: a shorter one
  };
  const { shipper, path } = await startShipper(clickhouse, {
    sleep,
    now: () => nowMs,
    intervalMs: () => 1000,
    settleMs: 1000,
  });
  writeFileSync(path, lines(10));
  await eventually(async () => expect(await countRows(clickhouse)).toBe(10));
  await server.kill();
  const awayMs = nowMs;
  appendFileSync(path, lines(10, 10));
  await eventually(() => expect(shipper.status().problem?.code).toBe('ARCHIVE_UNREACHABLE'));
  renameSync(path, `${path}.1`);
  writeFileSync(path, lines(20, 20));
  await eventually(() => expect(shipper.status().logs[0]?.lagBytes).toBeGreaterThan(0));
  await eventually(() => expect(nowMs - awayMs).toBeGreaterThan(3_600_000));
  expect(Math.max(...waits)).toBeGreaterThan(20_000);
  expect(shipper.status().logs[0]?.lagMs).toBeGreaterThan(3_000_000);
  await server.start();
  await eventually(async () => expect(await countRows(clickhouse)).toBe(40));
  await eventually(() => expect(shipper.status()).toMatchObject({ problem: null, lostBytes: 0 }));
  await eventually(() => expect(shipper.status().logs[0]).toMatchObject({ lagMs: 0, lagBytes: 0 }));
});

it('what is deleted before it was shipped is counted and reported', async () => {
  const clickhouse = await createDatabase();
  let aheadMs = 0;
  // pause: a shorter one
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.min(ms, 50)));
  const { shipper, path } = await startShipper(clickhouse, { now: () => Date.now() + aheadMs, batchRows: 500, sleep });
  writeFileSync(path, lines(10));
  await eventually(async () => expect(await countRows(clickhouse)).toBe(10));
  await clickhouse.execute('RENAME TABLE records TO away');
  // More than what is held in memory while the archive takes nothing.
  const batches = ['.4', '.3', '.2', '.1'].map((suffix, index) => {
    const text = `${line(100 + index)}${'x'.repeat(30)}\n`.repeat(600);
    writeFileSync(`${path}${suffix}`, text);
    return text.length;
  });
  await eventually(() => expect(shipper.status().problem?.code).toBe('ARCHIVE_SCHEMA'));
  // All of them were seen: what was never seen is not counted.
  const total = batches.reduce((sum, bytes) => sum + bytes, 0);
  await eventually(() => expect(shipper.status().logs[0]?.lagBytes).toBe(total));
  for (const suffix of ['.4', '.3', '.2', '.1']) rmSync(`${path}${suffix}`);
  aheadMs = 120_000;
  await eventually(() => {
    aheadMs += 120_000;
    expect(shipper.status().losses).toBeGreaterThan(0);
  });
  const { lostBytes } = shipper.status();
  expect(lostBytes).toBeGreaterThan(0);
  expect(lostBytes).toBeLessThan(total);
  await clickhouse.execute('RENAME TABLE away TO records');
  await eventually(() => expect(shipper.status().problem).toBeNull());
});

it.runIf(canMount())('an archive with a full disk gets everything once there is room', async () => {
  const dataDir = join(tempDir(), 'data');
  mountSmallDisk(dataDir, '12m');
  const small = await startClickHouse({ dataDir });
  onTestFinished(() => small.stop());
  const clickhouse = small.connect({ database: 'logs' });
  await migrate(clickhouse, await planMigration(clickhouse, { database: 'logs' }, 0));
  const filling = join(dataDir, 'filling');
  const { shipper, path } = await startShipper(clickhouse);
  writeFileSync(path, lines(10));
  await eventually(async () => expect(await countRows(clickhouse)).toBe(10));
  fillDisk(filling);
  appendFileSync(path, lines(1000, 10));
  await eventually(() => expect(shipper.status().problem?.code).toBe('ARCHIVE_FULL'));
  rmSync(filling);
  await eventually(async () => expect(await countRows(clickhouse)).toBe(1010));
});

it('a wrong password is a problem that names it, until its file has the right one', async () => {
  const { database } = await createDatabase();
  const passwordFile = join(tempDir(), 'password');
  writeFileSync(passwordFile, 'wrong');
  const clickhouse = server.connect({ database, user: 'writer', passwordFile });
  const problems: (string | undefined)[] = [];
  const { shipper, path } = await startShipper(clickhouse, { report: (problem) => problems.push(problem?.code) });
  writeFileSync(path, lines(10));
  await eventually(() => expect(shipper.status().problem?.code).toBe('ARCHIVE_DENIED'));
  expect(shipper.status().problem?.detail).toContain('writer');
  writeFileSync(passwordFile, 'right');
  await eventually(async () => expect(await countRows(server.connect({ database }))).toBe(10));
  await eventually(() => expect(problems).toEqual(['ARCHIVE_DENIED', undefined]));
});

it('tables of a newer version are not written to', async () => {
  const clickhouse = await createDatabase();
  await clickhouse.execute('INSERT INTO porthole_schema (version, applied_ms) VALUES (9, 1)');
  const { shipper, path } = await startShipper(clickhouse);
  writeFileSync(path, lines(3));
  await eventually(() => expect(shipper.status().problem?.detail).toContain('upgrade this node'));
  expect(await countRows(clickhouse)).toBe(0);
});

it('hostile texts arrive as they are', async () => {
  const clickhouse = await createDatabase();
  const dir = tempDir();
  const texts = [
    `'); DROP TABLE records; --`,
    '{"level":"info","msg":"\\ud800","x":"\\u0000"}',
    '\u0000\u0001\u001b[31m\u2028 \\N \\x00 \\',
    '9999-12-31 23:59:59.999\tINFO\ta.go:1\tthe end of time',
    '0001-01-01 00:00:00.000\tINFO\ta.go:1\tthe beginning',
    `2026-06-01 10:00:00.000\tINFO\ta.go:1\t${'long '.repeat(50_000)}`,
    '2026-06-01 10:00:00.000\tINFO\ta.go:1\tnested\t{"a":'.concat('['.repeat(150), ']'.repeat(150), '}'),
  ];
  writeFileSync(
    join(dir, 'a.log'),
    Buffer.concat([Buffer.from(`${texts.join('\n')}\n`), Buffer.from([0xff, 0xfe, 0x27, 0x0a])]),
  );
  const logs = new LogDir(dir, { threads: SHARED_THREADS });
  const { shipper } = await startShipper(clickhouse, { logs });
  await eventually(() => expect(shipper.status().logs[0]).toMatchObject({ lagBytes: 0, lagMs: 0 }));
  const expected: string[] = [];
  for await (const items of searchItems(logs, {
    src: ['a.log'],
    order: 'oldest',
    limit: 100,
    before: 0,
    after: 0,
    raw: true,
  })) {
    for (const item of items) if (item.type === 'record') expected.push(item.raw ?? '');
  }
  await eventually(async () => {
    const rows = await clickhouse.query<{ line: string }>('SELECT line FROM records FINAL ORDER BY file_offset');
    expect(rows.map((row) => row.line)).toEqual(expected);
  });
  expect(expected.length).toBeGreaterThan(3);
});

it('secrets are masked, and records stay the same when more of them become known', async () => {
  const clickhouse = await createDatabase();
  const dir = tempDir();
  const scrubbing = new Scrubbing();
  scrubbing.add(['first-secret']);
  const logs = new LogDir(dir, { threads: SHARED_THREADS, scrubbing });
  const { path } = await startShipper(clickhouse, { logs });
  writeFileSync(path, `${line(1).trimEnd()} first-secret other-secret\n${lines(9, 2)}`);
  await eventually(async () => expect(await countRows(clickhouse)).toBe(10));
  // The text that cursors begin with is another one now.
  scrubbing.add(['other-secret']);
  appendFileSync(path, `${line(11).trimEnd()} first-secret other-secret\n`);
  await eventually(async () => expect(await countRows(clickhouse)).toBe(11));
  const rows = await clickhouse.query<{ line: string }>('SELECT line FROM records FINAL ORDER BY time_ms');
  expect(rows.at(0)?.line).not.toContain('first-secret');
  expect(rows.at(10)?.line).not.toMatch(/first-secret|other-secret/);
});

it('two servers with a distributed table', async () => {
  const ports = [await serverPorts(), await serverPorts()];
  const clusterPorts = ports.map(({ tcp }) => tcp);
  const servers = await Promise.all(ports.map((own) => startClickHouse({ ports: own, clusterPorts })));
  onTestFinished(async () => {
    await Promise.all(servers.map((each) => each.stop()));
  });
  for (const each of servers) {
    const clickhouse = each.connect({ database: 'logs' });
    await migrate(clickhouse, await planMigration(clickhouse, { database: 'logs', cluster: 'porthole' }, 0));
  }
  const [first, second] = servers.map((each) => each.connect({ database: 'logs' }));
  if (!first || !second) return expect.unreachable();
  const { shipper, path } = await startShipper(first);
  for (let log = 0; log < 8; log++) writeFileSync(path.replace('a.log', `${log}.log`), lines(10));
  await eventually(async () => expect(await countRows(first)).toBe(80));
  expect(await countRows(second)).toBe(80);
  const local = 'SELECT count() AS n FROM records_local';
  const counts = [...(await first.query<{ n: number }>(local)), ...(await second.query<{ n: number }>(local))];
  expect(counts.every(({ n }) => n > 0 && n < 80)).toBe(true);
  await servers[1]?.kill();
  appendFileSync(path.replace('a.log', '0.log'), lines(10, 10));
  appendFileSync(path.replace('a.log', '1.log'), lines(10, 10));
  await servers[1]?.start();
  await eventually(async () => expect(await countRows(first)).toBe(100));
  expect(shipper.status().lostBytes).toBe(0);
});

it('progress that cannot be written is a problem, which is reported once', async () => {
  const clickhouse = await createDatabase();
  await clickhouse.execute('RENAME TABLE progress TO away');
  const log = { log: 'a.log', lookedMs: 1, lagBytes: 0, shippedRecords: 1, shippedToMs: 1, lostBytes: 0, losses: 0 };
  const progress = () => [{ ...log, gone: { count: 0, toMs: 0 }, diskFromMs: 1, disorderMs: 0, untimed: 0 }];
  const reported: unknown[] = [];
  const report = (problem: unknown) => void reported.push(problem);
  const writer = new ProgressWriter({ clickhouse, cluster: 'c', node: 'n', role: '', progress, report });
  await writer.close();
  await writer.close();
  const problem = { code: 'ARCHIVE_SCHEMA', detail: expect.stringContaining('progress') as string };
  expect(writer.problem).toEqual({ ...problem, sinceMs: expect.any(Number) as number });
  expect(reported).toEqual([problem]);
  await clickhouse.execute('RENAME TABLE away TO progress');
  await writer.close();
  expect(writer.problem).toBeUndefined();
  expect(reported.at(-1)).toBeUndefined();
});
