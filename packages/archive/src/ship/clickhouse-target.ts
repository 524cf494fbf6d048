import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { quote } from '../clickhouse/quote.ts';
import { checkSchema } from '../schema/migrate.ts';
import { readFeatures } from '../schema/server-features.ts';
import { RECORDS } from '../schema/tables.ts';
import { BlockPacker } from './block-packer.ts';
import type { RecordTarget } from './record-target.ts';

/** More files of one log are not told apart after the positions were lost. */
const MAX_KNOWN_FILES = 1000;

/** A batch may wait for merges of the server. */
const SEND_TIMEOUT_MS = 60_000;

/** All rows of a partition become one part, stored together or not at all; a distributed table stores them at once. */
const SETTINGS = { max_insert_block_size: 1_048_576, insert_distributed_sync: 1 };

const INSERT = `INSERT INTO ${RECORDS} FORMAT JSONEachRow`;

/** Sends rows to the table `records` of ClickHouse. */
export class ClickHouseTarget implements RecordTarget {
  readonly format = 'JSONEachRow.blocks.1';
  readonly #packer = new BlockPacker();
  readonly #clickhouse: ClickHouse;
  #settings: Readonly<Record<string, number>> = SETTINGS;

  constructor(clickhouse: ClickHouse) {
    this.#clickhouse = clickhouse;
  }

  async prepare(): Promise<void> {
    await checkSchema(this.#clickhouse);
    const { hasAsyncInsert } = await readFeatures(this.#clickhouse);
    // Many nodes insert a little every second: a server that can collects them, and responds once they are stored.
    this.#settings = hasAsyncInsert ? { ...SETTINGS, async_insert: 1, wait_for_async_insert: 1 } : SETTINGS;
  }

  pack(rows: Buffer): Promise<Buffer> {
    return this.#packer.pack(rows);
  }

  async send(packed: Buffer, signal: AbortSignal): Promise<void> {
    const settings = this.#settings;
    await this.#clickhouse.insert(INSERT, {
      body: packed,
      isPacked: true,
      settings,
      signal,
      timeoutMs: SEND_TIMEOUT_MS,
    });
  }

  async knownFiles({ cluster, node, log }: Parameters<RecordTarget['knownFiles']>[0], signal: AbortSignal) {
    const where = `cluster = ${quote(cluster)} AND node = ${quote(node)} AND log = ${quote(log)}`;
    const sql = `SELECT file_id AS id, max(time_ms) AS to_ms FROM ${RECORDS} WHERE ${where}
GROUP BY file_id ORDER BY to_ms DESC LIMIT ${MAX_KNOWN_FILES}`;
    const files = await this.#clickhouse.query<{ id: string; to_ms: number }>(sql, { signal });
    return files.map(({ id, to_ms: toMs }) => ({ id, toMs }));
  }
}
