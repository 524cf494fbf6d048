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
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClickHouse, type TestClickHouse } from '../testing/server.ts';
import { ClickHouseSink } from './clickhouse-sink.ts';
import type { Refusal, SentBatch } from './sink.ts';
import { ShipSetting } from './testing/ship-setting.ts';

let server: TestClickHouse;

beforeAll(async () => {
  server = await startClickHouse({ users: { writer: { password: 'right' } } });
});

afterAll(() => server.stop());

/** Lines of one record each, every one different. */
const line = (index: number) =>
  `${new Date(Date.UTC(2026, 5, 1) + index * 10).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:${index % 50}\tline ${index} of "it"\t{"n":${index}}\n`;
const lines = (count: number, from = 0) => Array.from({ length: count }, (_, index) => line(from + index)).join('');

/** What is sent, and the disk of the node at the moment when the archive has it and the node does not know yet. */
class Watched extends ClickHouseSink {
  readonly sent: string[] = [];
  readonly crashed = tempDir();
  readonly #positionsDir: string;

  constructor({ clickhouse, positionsDir }: ShipSetting) {
    super(clickhouse);
    this.#positionsDir = positionsDir;
  }

  override async send(batch: SentBatch, signal: AbortSignal): Promise<Refusal> {
    const refused = await super.send(batch, signal);
    this.sent.push(batch.packed.toString('base64'));
    rmSync(this.crashed, { recursive: true });
    cpSync(this.#positionsDir, this.crashed, { recursive: true });
    return refused;
  }
}

describe('records are shipped exactly once', () => {
  it('does not sleep while there is more to read', async () => {
    const setting = await ShipSetting.create(server);
    writeFileSync(setting.path, lines(100));
    // Polls go on; nothing else ever wakes up.
    const sleep = async (ms: number, signal: AbortSignal) => {
      if (ms < 500)
        await delay(ms); // pause: the one it asked for
      else if (!signal.aborted) await once(signal, 'abort');
    };
    await setting.start({ batchRows: 10, turnMs: 0, intervalMs: () => 10_000, sleep });
    // The last ones may have to wait: for another record, or until they have not changed for a while.
    await eventually(async () => expect((await setting.texts()).length).toBeGreaterThanOrEqual(90));
  });

  it('as they are written, through rotation by renaming and compressing', async () => {
    const setting = await ShipSetting.create(server);
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

  it('and the position of a log that is gone for more than 30 days is dropped when it starts', async () => {
    const setting = await ShipSetting.create(server);
    writeFileSync(setting.path, lines(10));
    const gone = join(setting.positionsDir, `${'0'.repeat(32)}.json`);
    writeFileSync(gone, '');
    utimesSync(gone, 0, 0);
    await setting.start();
    await setting.expectTexts(lines(10));
    await eventually(() => expect(readdirSync(setting.positionsDir)).not.toContain(basename(gone)));
    await eventually(() => expect(readdirSync(setting.positionsDir)).toHaveLength(1));
  });

  it('through a copy and a truncation', async () => {
    const setting = await ShipSetting.create(server);
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
    const setting = await ShipSetting.create(server);
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
    const setting = await ShipSetting.create(server);
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
    const setting = await ShipSetting.create(server);
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
    const setting = await ShipSetting.create(server);
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

describe('what other nodes have to know of a log', () => {
  const timeOf = (index: number) => Date.UTC(2026, 5, 1) + index * 10;

  it('is up to when records are only in the archive, also after a restart and after the positions were lost', async () => {
    const setting = await ShipSetting.create(server);
    const { path, positionsDir } = setting;
    // The last record of the oldest file is newer than the first one of the next.
    writeFileSync(`${path}.1`, `${lines(10)}${line(500)}`);
    writeFileSync(path, lines(10, 10));
    let shipper = await setting.start();
    await eventually(async () => expect(await setting.texts()).toHaveLength(21));
    await eventually(() => expect(shipper.status().logs[0]).toMatchObject({ lagBytes: 0, disorderMs: 4900 }));
    expect(shipper.status().logs[0]).toMatchObject({ gone: { count: 0 }, diskFromMs: timeOf(0), untimed: 0 });
    rmSync(`${path}.1`);
    const known = { gone: { count: 1, toMs: timeOf(500) }, diskFromMs: timeOf(10) };
    await eventually(() => expect(shipper.status().logs[0]).toMatchObject(known));
    shipper = await setting.restart();
    await eventually(() => expect(shipper.status().logs[0]).toMatchObject({ ...known, disorderMs: 4900 }));
    await setting.stop();
    for (const name of readdirSync(positionsDir)) rmSync(join(positionsDir, name));
    shipper = await setting.start();
    await eventually(() => expect(shipper.status().logs[0]).toMatchObject(known));
  });

  it('is how many records have no timestamp', async () => {
    const setting = await ShipSetting.create(server);
    writeFileSync(setting.path, `# started\n${lines(10)}`);
    writeFileSync(join(setting.dir, 'b.log'), 'one\ntwo\nthree\n');
    const shipper = await setting.start();
    await eventually(() => {
      const counts = shipper.status().logs.map(({ untimed, shippedRecords }) => [untimed, shippedRecords]);
      expect(counts).toEqual([
        [1, 11],
        [3, 3],
      ]);
    });
  });
});

describe('a node that crashed', () => {
  /** Ships a log, and returns what the disk looked like before the last batch was known to be stored. */
  async function crash(setting: ShipSetting): Promise<Watched> {
    writeFileSync(setting.path, lines(40));
    const sink = new Watched(setting);
    await setting.start({ sink });
    await setting.expectTexts(lines(40));
    appendFileSync(setting.path, lines(60, 40));
    await setting.expectTexts(lines(100));
    await setting.stop();
    return sink;
  }

  it('sends the very same batch again, whatever was written and rotated meanwhile', async () => {
    const setting = await ShipSetting.create(server);
    const { sent, crashed } = await crash(setting);
    appendFileSync(setting.path, lines(20, 100));
    renameSync(setting.path, `${setting.path}.1`);
    writeFileSync(setting.path, lines(30, 120));
    const sink = new Watched(setting);
    const shipper = await setting.start({ sink, positionsDir: crashed });
    await setting.expectTexts(lines(150));
    expect(sink.sent[0]).toBe(sent.at(-1));
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
    const setting = await ShipSetting.create(server);
    const { sent, crashed } = await crash(setting);
    const path = join(crashed, 'batch');
    const damaged = damage(readFileSync(path));
    if (damaged) writeFileSync(path, damaged);
    else rmSync(path);
    appendFileSync(setting.path, lines(20, 100));
    const sink = new Watched(setting);
    await setting.start({ sink, positionsDir: crashed });
    await setting.expectTexts(lines(120));
    expect(sink.sent[0]).not.toBe(sent.at(-1));
  });

  it('and may not ship one of the logs any more sends nothing of it', async () => {
    const setting = await ShipSetting.create(server);
    const { crashed } = await crash(setting);
    const sink = new Watched(setting);
    const [{ day } = { day: '' }] = await setting.clickhouse.query<{ day: string }>(
      'SELECT any(day) AS day FROM records',
    );
    await setting.clickhouse.execute(`ALTER TABLE records DROP PARTITION '${day}'`);
    writeFileSync(join(setting.dir, 'b.log'), lines(10));
    await setting.start({ sink, positionsDir: crashed, isShipped: (log) => log === 'b.log' });
    await setting.expectTexts(lines(10), 'b.log');
    expect(await setting.texts('a.log')).toEqual([]);
  });
});
