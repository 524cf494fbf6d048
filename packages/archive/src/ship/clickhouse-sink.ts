import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { quote } from '../clickhouse/quote.ts';
import { checkSchema, RECORDS, readFeatures } from '../schema/schema.ts';
import { RowWriter } from './row-writer.ts';
import { type KnownFile, NOTHING_REFUSED, type Refusal, type SentBatch, type Sink } from './sink.ts';

/** Large enough that ClickHouse makes few parts, small enough for a node's memory. */
const MAX_BYTES = 6 * 1024 ** 2;
const MAX_ROWS = 50_000;

/** More files of one log are not distinguished after the positions were lost. */
const MAX_KNOWN_FILES = 1000;

/** A batch may wait for merges of the server. */
const SEND_TIMEOUT_MS = 60_000;

/** All rows of a partition become one part, stored together or not at all; a distributed table stores them at once. */
const SETTINGS = { max_insert_block_size: 1_048_576, insert_distributed_sync: 1 };

/** Compresses rows to a tenth. */
const GZIP = { level: 1 };

/** Sends rows to the table `records` of ClickHouse. All methods throw an `ArchiveError`. */
export class ClickHouseSink implements Sink {
  readonly name = 'archive';
  readonly query = { raw: true };
  readonly limits = { bytes: MAX_BYTES, records: MAX_ROWS };
  readonly format = 'JSONEachRow.gzip.1';
  readonly #clickhouse: ClickHouse;
  #settings: Readonly<Record<string, number>> = SETTINGS;

  constructor(clickhouse: ClickHouse) {
    this.#clickhouse = clickhouse;
  }

  createWriter(): RowWriter {
    return new RowWriter();
  }

  async prepare(): Promise<void> {
    await checkSchema(this.#clickhouse);
    const { hasAsyncInsert } = await readFeatures(this.#clickhouse);
    // Many nodes insert a little every second: a server that can collects them, and responds once they are stored.
    this.#settings = hasAsyncInsert ? { ...SETTINGS, async_insert: 1, wait_for_async_insert: 1 } : SETTINGS;
  }

  /**
   * What is sent for these rows: lines of JSON, columns with their default value left out. A copy: the
   * memory of the rows is used again. Does not depend on `prepare`.
   */
  pack(rows: Buffer): Promise<Buffer> {
    return promisify<Buffer, typeof GZIP, Buffer>(gzip)(rows, GZIP);
  }

  /**
   * Sends what was packed, as often as it takes. Resolves once the rows are stored, together or not at all as far as
   * ClickHouse can do that. Rows that were stored before replace themselves.
   */
  async send({ packed }: SentBatch, signal: AbortSignal): Promise<Refusal> {
    await this.#clickhouse.insert(`INSERT INTO ${RECORDS} FORMAT JSONEachRow`, {
      body: packed,
      isGzip: true,
      settings: this.#settings,
      signal,
      timeoutMs: SEND_TIMEOUT_MS,
    });
    return NOTHING_REFUSED;
  }

  async knownFiles(
    { cluster, node, log }: { cluster: string; node: string; log: string },
    signal: AbortSignal,
  ): Promise<KnownFile[]> {
    const where = `cluster = ${quote(cluster)} AND node = ${quote(node)} AND log = ${quote(log)}`;
    const sql = `SELECT file_id AS id, max(time_ms) AS to_ms FROM ${RECORDS} WHERE ${where}
GROUP BY file_id ORDER BY to_ms DESC LIMIT ${MAX_KNOWN_FILES}`;
    const files = await this.#clickhouse.query<{ id: string; to_ms: number }>(sql, { signal });
    return files.map(({ id, to_ms: toMs }) => ({ id, toMs }));
  }
}
