import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { ClickHouse, ClickHouseSink, LogShipper, migrate, planMigration } from '@porthole/archive';
import { LogDir } from '@porthole/logs';
import type { BenchContext } from './context.ts';
import { atLeast, type Row } from './group.ts';
import { quantile, showNumber } from './rounds.ts';

/** Of the records that ClickHouse's own client, which parses no log, sends in a second of a core. */
const LEAST_RATIO = 0.1;

const STEADY_RATE = 10_000;

const WRITE_MS = 100;

interface ShippingBench {
  url: string;
  /** For ClickHouse's own client. */
  tcpPort: number;
  records: number;
}

/** What it costs a node to ship its records, and how long they take. */
export async function shippingRows(context: BenchContext, { url, tcpPort, records }: ShippingBench): Promise<Row[]> {
  const database = 'bench_shipping';
  const clickhouse = new ClickHouse({ url, database });
  await migrate(clickhouse, await planMigration(clickhouse, { database }, Date.now()));
  const rows = [await rateRow(context, clickhouse, { tcpPort, records }), await lagRow(context, clickhouse)];
  clickhouse.close();
  return rows;
}

async function rateRow(
  context: BenchContext,
  clickhouse: ClickHouse,
  { tcpPort, records }: Omit<ShippingBench, 'url'>,
): Promise<Row> {
  const dir = context.tempDir();
  const file = createWriteStream(join(dir, 'a.log'));
  for (let from = 0; from < records; from += 10_000) file.write(logLines(from, Math.min(10_000, records - from), 7));
  file.end();
  await once(file, 'finish');
  context.log(`  shipping ${records} records`);
  const before = process.cpuUsage();
  const shipper = await startShipper(context, dir, new ClickHouseSink(clickhouse));
  while (shipper.status().shippedRecords < records - 1) await delay(50);
  const { user, system } = process.cpuUsage(before);
  const rate = records / ((user + system) / 1e6);
  await shipper.close();
  context.log(`  ${showNumber(rate)} records/s of a core`);
  const client = await clientRate(context, clickhouse, tcpPort);
  return {
    figure: 'shipping: records/s of a core of the node',
    porthole: showNumber(rate),
    against: `clickhouse-client, the same rows: ${showNumber(client)}`,
    ratio: rate / client,
    target: atLeast(rate / client, LEAST_RATIO),
  };
}

/** What ClickHouse's own client takes to send the rows as they are. */
async function clientRate(context: BenchContext, clickhouse: ClickHouse, tcpPort: number): Promise<number> {
  const path = join(context.tempDir(), 'rows.json');
  const rows = createWriteStream(path);
  for await (const lines of clickhouse.stream('SELECT * FROM records', { maxBytes: 8 * 1024 ** 3 })) rows.write(lines);
  rows.end();
  await once(rows, 'finish');
  await clickhouse.execute('CREATE TABLE IF NOT EXISTS again AS records');
  const [row] = await clickhouse.query<{ n: number }>('SELECT count() AS n FROM records');
  const insert = `INSERT INTO ${clickhouse.database}.again FORMAT JSONEachRow`;
  const command = `TIMEFORMAT='%U %S'; time ${context.peer('clickhouse-client')} --port ${tcpPort} --query '${insert}'`;
  context.recordCommand(['bash', '-c', command]);
  const child = spawn('bash', ['-c', command], { stdio: ['pipe', 'inherit', 'pipe'] });
  createReadStream(path).pipe(child.stdin);
  const [user = 0, system = 0] = (await text(child.stderr)).trim().split(/\s+/).map(Number);
  return (row?.n ?? 0) / (user + system);
}

/** From the time of a record to the response of the server, at a steady rate. */
async function lagRow(context: BenchContext, clickhouse: ClickHouse): Promise<Row> {
  const dir = context.tempDir();
  const lags: number[] = [];
  const sink = new TimedSink(clickhouse, lags);
  const shipper = await startShipper(context, dir, sink);
  const path = join(dir, 'a.log');
  const perWrite = (STEADY_RATE * WRITE_MS) / 1000;
  const started = performance.now();
  const writes = (context.effort.followSeconds * 1000) / WRITE_MS;
  for (let write = 0; write < writes; write++) {
    await delay(Math.max(0, started + write * WRITE_MS - performance.now()));
    appendFileSync(path, logLines(0, perWrite, 0, Date.now()));
  }
  while (shipper.status().shippedRecords < writes * perWrite) await delay(50);
  await shipper.close();
  const p99 = quantile(lags, 0.99);
  return {
    figure: `shipping: ms from record to archive at ${showNumber(STEADY_RATE)}/s, p50 and p99`,
    porthole: `${showNumber(quantile(lags, 0.5))} ${showNumber(p99)}`,
  };
}

/** Notes how long after its time a record is stored. */
class TimedSink extends ClickHouseSink {
  readonly #times = new Map<Buffer, number[]>();
  readonly #lags: number[];

  constructor(clickhouse: ClickHouse, lags: number[]) {
    super(clickhouse);
    this.#lags = lags;
  }

  override async pack(rows: Buffer): Promise<Buffer> {
    const packed = await super.pack(rows);
    this.#times.set(packed, sampleTimes(rows));
    return packed;
  }

  override async send(batch: Parameters<ClickHouseSink['send']>[0], signal: AbortSignal) {
    const refused = await super.send(batch, signal);
    const { packed } = batch;
    for (const timeMs of this.#times.get(packed) ?? []) this.#lags.push(Date.now() - timeMs);
    this.#times.delete(packed);
    return refused;
  }
}

function startShipper(context: BenchContext, dir: string, sink: ClickHouseSink): LogShipper {
  const logs = new LogDir(dir, { workers: 1 });
  const node = { cluster: 'bench', node: dir, role: 'bench' };
  return LogShipper.open({ logs, sink, positionsDir: context.tempDir(), ...node });
}

/** Times of every hundredth row, and of the last one. */
function sampleTimes(rows: Buffer): number[] {
  const times = [...rows.toString().matchAll(/"time_ms":(\d+)/g)];
  return times.flatMap(([, time], index) => (index % 100 === 0 || index === times.length - 1 ? [Number(time)] : []));
}

function logLines(from: number, count: number, stepMs: number, startMs = Date.UTC(2026, 9, 1)): string {
  const lines: string[] = [];
  for (let index = from; index < from + count; index++) {
    const time = new Date(startMs + index * stepMs).toISOString().replace('T', ' ').slice(0, 23);
    const level = ['INFO', 'WARN', 'ERROR', 'DEBUG'][(index % 7) % 4] ?? '';
    const message = `flushed shard ${index % 64} with ${(index * 31) % 100_000} series in ${(index * 17) % 999} ms`;
    const context = `{"shard":${index % 64},"took":"${index % 500}ms","db":"metrics_${index % 5}"}`;
    lines.push(`${time}\t${level}\tsegment/flush.go:${index % 97}\t[Storage] [Flusher]: ${message}\t${context}\n`);
  }
  return lines.join('');
}
