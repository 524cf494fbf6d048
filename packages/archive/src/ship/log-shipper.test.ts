import { once } from 'node:events';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { LogDir } from '@porthole/logs';
import { eventually, SHARED_THREADS } from '@porthole/logs/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { migrate, planMigration } from '../schema/migrate.ts';
import { startClickHouse, type TestClickHouse } from '../testing/server.ts';
import { tempDir } from '../testing/temp-dir.ts';
import { ClickHouseTarget } from './clickhouse-target.ts';
import { LogShipper, type ShipperOptions } from './log-shipper.ts';

let server: TestClickHouse;

beforeAll(async () => {
  server = await startClickHouse({ users: { writer: { password: 'right' } } });
});

afterAll(() => server.stop());

/** Lines of one record each, every one different. */
const line = (index: number) =>
  `${new Date(Date.UTC(2026, 5, 1) + index * 10).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:${index % 50}\tline ${index} of "it"\t{"n":${index}}\n`;
const lines = (count: number, from = 0) => Array.from({ length: count }, (_, index) => line(from + index)).join('');

class Setting {
  readonly dir = tempDir();
  readonly positionsDir = tempDir();
  readonly path = join(this.dir, 'a.log');
  readonly database = server.newDatabase();
  readonly clickhouse: ClickHouse = server.connect({ database: this.database });
  #opened: { shipper: LogShipper; logs: LogDir } | undefined;

  static async create(): Promise<Setting> {
    const setting = new Setting();
    const { clickhouse, database } = setting;
    await migrate(clickhouse, await planMigration(clickhouse, { database }, 0));
    onTestFinished(() => setting.stop());
    return setting;
  }

  async start(options: Partial<ShipperOptions> = {}): Promise<LogShipper> {
    const logs = new LogDir(this.dir, { threads: SHARED_THREADS });
    const target = new ClickHouseTarget(this.clickhouse);
    const node = { cluster: 'c', node: 'n', role: 'storage' };
    const shipper = await LogShipper.open({
      logs,
      target,
      positionsDir: this.positionsDir,
      ...node,
      intervalMs: () => 30,
      settleMs: 30,
      ...options,
    });
    this.#opened = { shipper, logs };
    return shipper;
  }

  async stop(): Promise<void> {
    await this.#opened?.shipper.close();
    await this.#opened?.logs.close();
    this.#opened = undefined;
  }

  async restart(options: Partial<ShipperOptions> = {}): Promise<LogShipper> {
    await this.stop();
    return this.start(options);
  }

  /** The texts in the archive, as a reader sees them, in order. */
  async texts(log = 'a.log'): Promise<string[]> {
    const sql = `SELECT line FROM records FINAL WHERE log = '${log}' ORDER BY time_ms, file_id, file_offset`;
    return (await this.clickhouse.query<{ line: string }>(sql)).map((row) => row.line);
  }

  /** Waits until the archive has exactly these. */
  async expectTexts(text: string, log = 'a.log'): Promise<void> {
    const expected = text.split('\n').slice(0, -1);
    await eventually(async () => {
      const found = await this.texts(log);
      expect(found.length).toBe(expected.length);
      expect(found).toEqual(expected);
    });
  }
}

/** What is sent, and the disk of the node at the moment when the archive has it and the node does not know yet. */
class Watched extends ClickHouseTarget {
  readonly sent: string[] = [];
  readonly crashed = tempDir();
  readonly #positionsDir: string;

  constructor({ clickhouse, positionsDir }: Setting) {
    super(clickhouse);
    this.#positionsDir = positionsDir;
  }

  override async send(packed: Buffer, signal: AbortSignal): Promise<void> {
    await super.send(packed, signal);
    this.sent.push(packed.toString('base64'));
    rmSync(this.crashed, { recursive: true });
    cpSync(this.#positionsDir, this.crashed, { recursive: true });
  }
}

describe('records are shipped exactly once', () => {
  it('does not sleep while there is more to read', async () => {
    const setting = await Setting.create();
    writeFileSync(setting.path, lines(100));
    // Polls go on; nothing else ever wakes up.
    const sleep = async (ms: number, signal: AbortSignal) => {
      if (ms < 500) await delay(ms);
      else if (!signal.aborted) await once(signal, 'abort');
    };
    await setting.start({ batchRows: 10, turnMs: 0, intervalMs: () => 10_000, sleep });
    // The last ones may have to wait: for another record, or until they have not changed for a while.
    await eventually(async () => expect((await setting.texts()).length).toBeGreaterThanOrEqual(90));
  });

  it('as they are written, through rotation by renaming and compressing', async () => {
    const setting = await Setting.create();
    const { path } = setting;
    writeFileSync(`${path}.1`, lines(100));
    writeFileSync(path, lines(100, 100));
    const shipper = await setting.start();
    await setting.expectTexts(lines(200));
    appendFileSync(path, lines(50, 200));
    renameSync(`${path}.1`, `${path}.2`);
    renameSync(path, `${path}.1`);
    writeFileSync(path, lines(10, 250));
    await setting.expectTexts(lines(260));
    writeFileSync(`${path}.1.gz`, gzipSync(lines(150, 100)));
    rmSync(`${path}.1`);
    appendFileSync(path, lines(10, 260));
    await setting.expectTexts(lines(270));
    await eventually(() => expect(shipper.status().logs[0]).toMatchObject({ lagMs: 0, lagBytes: 0 }));
    expect(shipper.status()).toMatchObject({ problem: null, shippedRecords: 270, lostBytes: 0 });
  });

  it('through a copy and a truncation', async () => {
    const setting = await Setting.create();
    const { path } = setting;
    writeFileSync(path, lines(100));
    await setting.start();
    await setting.expectTexts(lines(100));
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
    appendFileSync(path, lines(40, 100));
    await setting.expectTexts(lines(140));
  });

  it('after a restart, also if files were rotated and compressed meanwhile', async () => {
    const setting = await Setting.create();
    const { path } = setting;
    writeFileSync(path, lines(100));
    await setting.start();
    await setting.expectTexts(lines(100));
    await setting.stop();
    writeFileSync(`${path}.1.gz`, gzipSync(lines(120)));
    writeFileSync(path, lines(30, 120));
    const shipper = await setting.start();
    await setting.expectTexts(lines(150));
    // Counted when the archive has confirmed them, which is after they can be read there.
    await eventually(() => expect(shipper.status().shippedRecords).toBe(50));
  });

  it('after the positions were lost', async () => {
    const setting = await Setting.create();
    const { path, positionsDir } = setting;
    writeFileSync(path, lines(3));
    await setting.start();
    await setting.expectTexts(lines(3));
    appendFileSync(path, lines(97, 3));
    await setting.expectTexts(lines(100));
    await setting.stop();
    for (const name of readdirSync(positionsDir)) rmSync(join(positionsDir, name));
    appendFileSync(path, lines(20, 100));
    await setting.start();
    await setting.expectTexts(lines(120));
  });

  it('with the lines that follow later', async () => {
    const setting = await Setting.create();
    const { path } = setting;
    writeFileSync(path, `${line(0)}${line(1)}`);
    await setting.start();
    await setting.expectTexts(`${line(0)}${line(1)}`);
    appendFileSync(path, '\tat f()\n\tat g()\n');
    await eventually(async () => expect((await setting.texts()).at(1)).toBe(`${line(1)}\tat f()\n\tat g()`));
    // The last line is not complete: it would have another time, and thus be another record.
    appendFileSync(path, line(2).slice(0, 15));
    await eventually(async () => expect(await setting.texts()).toHaveLength(2));
    appendFileSync(path, line(2).slice(15));
    await eventually(async () => expect(await setting.texts()).toHaveLength(3));
  });

  it('of logs that begin alike', async () => {
    const setting = await Setting.create();
    const { path } = setting;
    const banner = '# started\n';
    writeFileSync(path, banner);
    await setting.start();
    await eventually(async () => expect(await setting.texts()).toEqual([banner.trim()]));
    renameSync(path, `${path}.1`);
    writeFileSync(path, banner);
    await eventually(async () => expect(await setting.texts()).toHaveLength(2));
    renameSync(path, `${path}.2`);
    writeFileSync(path, `${banner}${line(1)}`);
    await eventually(async () => expect(await setting.texts()).toHaveLength(4));
    await setting.restart();
    appendFileSync(path, line(2));
    await eventually(async () => expect(await setting.texts()).toHaveLength(5));
  });
});

describe('a node that crashed', () => {
  /** Ships a log, and returns what the disk looked like before the last batch was known to be stored. */
  async function crash(setting: Setting): Promise<Watched> {
    writeFileSync(setting.path, lines(40));
    const target = new Watched(setting);
    await setting.start({ target });
    await setting.expectTexts(lines(40));
    appendFileSync(setting.path, lines(60, 40));
    await setting.expectTexts(lines(100));
    await setting.stop();
    return target;
  }

  it('sends the very same batch again, whatever was written and rotated meanwhile', async () => {
    const setting = await Setting.create();
    const { sent, crashed } = await crash(setting);
    appendFileSync(setting.path, lines(20, 100));
    renameSync(setting.path, `${setting.path}.1`);
    writeFileSync(setting.path, lines(30, 120));
    const target = new Watched(setting);
    const shipper = await setting.start({ target, positionsDir: crashed });
    await setting.expectTexts(lines(150));
    expect(target.sent[0]).toBe(sent.at(-1));
    await eventually(() => expect(shipper.status().logs[0]).toMatchObject({ lagBytes: 0, shippedRecords: 150 }));
    const versions = `SELECT uniqExact(shipped_ms) AS n FROM records GROUP BY file_id, file_offset HAVING n > 1`;
    expect(await setting.clickhouse.query(versions)).toEqual([]);
    expect(readdirSync(crashed)).not.toContain('batch');
  });

  it.each([
    ['has half of it on disk', (batch: Buffer) => batch.subarray(0, batch.length - 9)],
    ['has a batch of another version', (batch: Buffer) => Buffer.from(`{"version":2}\n${batch.toString('latin1')}`)],
    ['has none', () => undefined],
  ])('and %s makes it anew', async (_name, damage) => {
    const setting = await Setting.create();
    const { sent, crashed } = await crash(setting);
    const path = join(crashed, 'batch');
    const damaged = damage(readFileSync(path));
    if (damaged) writeFileSync(path, damaged);
    else rmSync(path);
    appendFileSync(setting.path, lines(20, 100));
    const target = new Watched(setting);
    await setting.start({ target, positionsDir: crashed });
    await setting.expectTexts(lines(120));
    expect(target.sent[0]).not.toBe(sent.at(-1));
  });

  it('and may not ship one of the logs any more sends nothing of it', async () => {
    const setting = await Setting.create();
    const { crashed } = await crash(setting);
    const target = new Watched(setting);
    const [{ day } = { day: '' }] = await setting.clickhouse.query<{ day: string }>(
      'SELECT any(day) AS day FROM records',
    );
    await setting.clickhouse.execute(`ALTER TABLE records DROP PARTITION '${day}'`);
    writeFileSync(join(setting.dir, 'b.log'), lines(10));
    await setting.start({ target, positionsDir: crashed, isShipped: (log) => log === 'b.log' });
    await setting.expectTexts(lines(10), 'b.log');
    expect(await setting.texts('a.log')).toEqual([]);
  });
});
