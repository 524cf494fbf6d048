import { join } from 'node:path';
import { LogDir } from '@porthole/logs';
import { eventually, SHARED_THREADS } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, onTestFinished } from 'vitest';
import type { ClickHouse } from '../../clickhouse/clickhouse.ts';
import { migrate, planMigration } from '../../schema/schema.ts';
import type { TestClickHouse } from '../../testing/server.ts';
import { ClickHouseSink } from '../clickhouse-sink.ts';
import { LogShipper, type ShipperOptions } from '../log-shipper.ts';

/** A node that ships its logs to a database of its own. */
export class ShipSetting {
  readonly dir = tempDir();
  readonly positionsDir = tempDir();
  readonly path = join(this.dir, 'a.log');
  readonly database: string;
  readonly clickhouse: ClickHouse;
  #opened: { shipper: LogShipper; logs: LogDir } | undefined;

  private constructor(server: TestClickHouse) {
    this.database = server.newDatabase();
    this.clickhouse = server.connect({ database: this.database });
  }

  static async create(server: TestClickHouse): Promise<ShipSetting> {
    const setting = new ShipSetting(server);
    const { clickhouse, database } = setting;
    await migrate(clickhouse, await planMigration(clickhouse, { database }, 0));
    onTestFinished(() => setting.stop());
    return setting;
  }

  async start(options: Partial<ShipperOptions> = {}): Promise<LogShipper> {
    const logs = new LogDir(this.dir, { threads: SHARED_THREADS });
    const sink = new ClickHouseSink(this.clickhouse);
    const node = { cluster: 'c', node: 'n', role: 'storage' };
    const shipper = LogShipper.open({
      logs,
      sink,
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
