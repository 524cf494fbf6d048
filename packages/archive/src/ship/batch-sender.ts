import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { errorMessage } from '@porthole/contract';
import { owned, Shared } from '@porthole/logs/shared';
import { ArchiveError } from '../archive-error.ts';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { quote } from '../clickhouse/quote.ts';
import { checkSchema, RECORDS, readFeatures } from '../schema/schema.ts';
import type { LogReader } from './log-reader.ts';
import type { LogCheckpoint, PendingBatch } from './positions.ts';
import { RowWriter } from './row-writer.ts';

/** Large enough that ClickHouse makes few parts, small enough for a node's memory. */
const MAX_BYTES = 6 * 1024 ** 2;
const MAX_ROWS = 50_000;

/** Each is a partition, and thus a part of its own: servers refuse more than a hundred in one insert. */
const MAX_DAYS = 40;

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;

/** Short: a batch takes tens of milliseconds to send. */
const ROOM_POLL_MS = 20;

/** Rows of one or more logs, and what is known to be shipped once they are stored. */
interface BuiltBatch {
  /** What is sent, again and again if need be. */
  packed: Buffer;
  /** Whether it is on disk, as it is before it is sent. */
  isKept: boolean;
  rows: number;
  /** Size of the rows, not packed. */
  bytes: number;
  /** Logs with rows in it. */
  logs: readonly LogCheckpoint[];
}

/** Collects the rows of a node's logs. */
export class BatchBuilder {
  readonly writer = new RowWriter();
  readonly #readers = new Set<LogReader>();
  readonly #days = new Set<string>();
  readonly #maxRows: number;
  #rows = 0;

  constructor(maxRows = MAX_ROWS) {
    this.#maxRows = maxRows;
  }

  get isFull(): boolean {
    return this.writer.length >= MAX_BYTES || this.#rows >= this.#maxRows || this.#days.size >= MAX_DAYS;
  }

  /** Notes a row of this day that was just written. */
  add(reader: LogReader, day: string): void {
    this.#rows++;
    this.#days.add(day);
    this.#readers.add(reader);
  }

  /**
   * What was collected; `undefined` if nothing was. Packed here, where the rows are: copies of them would be what most of
   * the memory of shipping is for. No rows are added until it resolves.
   */
  async take(pack: (rows: Buffer) => Promise<Buffer>): Promise<BuiltBatch | undefined> {
    if (this.#rows === 0) return undefined;
    const packed = await pack(this.writer.rows);
    const logs = [...this.#readers].map((reader) => reader.checkpoint());
    const batch = { packed, isKept: false, rows: this.#rows, bytes: this.writer.length, logs };
    this.writer.length = 0;
    this.#rows = 0;
    this.#readers.clear();
    this.#days.clear();
    return batch;
  }
}

/** Why nothing is shipped now. */
export interface ShipProblem {
  code: string;
  detail: string;
}

interface BatchSenderDeps {
  target: ClickHouseTarget;
  /** Keeps the batch in flight: after a crash, the very same one is sent again. */
  pending: PendingBatch;
  signal: AbortSignal;
  /** Resolves after so long, or once the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>;
  onProblem(problem: ShipProblem | undefined): void;
}

/** Sends one batch after the other, each until it is stored: again and again, the very same rows. */
export class BatchSender {
  sentRows = 0;
  sentBytes = 0;
  batches = 0;
  retries = 0;
  readonly #deps: BatchSenderDeps;
  #isPrepared = false;
  readonly #sending = new Shared<void>();
  #next: BuiltBatch | undefined;

  constructor(deps: BatchSenderDeps) {
    this.#deps = deps;
  }

  /** Sends a batch as soon as the one before is stored. Only if there is room. */
  submit(batch: BuiltBatch): void {
    this.#next = batch;
    void owned(
      this.#sending.run(() => this.#run()),
      (error) => this.#deps.onProblem(toProblem(error)),
    );
  }

  /** Resolves when all batches are stored, or given up because of the signal. */
  async idle(): Promise<void> {
    await this.#sending.last();
  }

  /** Waits for room, at most so long; whether there is. One batch is sent while the next one waits; a third has no room. */
  async room(waitMs: number): Promise<boolean> {
    const { signal, sleep } = this.#deps;
    const endAt = performance.now() + waitMs;
    // Not a signal with a timeout: where nobody listens to one, it may be collected before it aborts.
    while (this.#next && !signal.aborted && performance.now() < endAt) await sleep(ROOM_POLL_MS, signal);
    return this.#next === undefined;
  }

  async #run(): Promise<void> {
    for (let batch = this.#next; batch && !this.#deps.signal.aborted; batch = this.#next) {
      this.#next = undefined;
      await this.#sendUntilStored(batch);
    }
  }

  async #sendUntilStored(batch: BuiltBatch): Promise<void> {
    const { signal, sleep, onProblem } = this.#deps;
    for (let waitMs = FIRST_WAIT_MS; !signal.aborted; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
      try {
        await this.#send(batch);
        onProblem(undefined);
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.retries++;
        this.#isPrepared = false;
        onProblem(toProblem(error));
        // Not all nodes at the same moment.
        await sleep(waitMs * (0.75 + Math.random() / 2), signal);
      }
    }
  }

  async #send(batch: BuiltBatch): Promise<void> {
    const { target, pending, signal } = this.#deps;
    const { rows, bytes, packed, logs } = batch;
    if (!this.#isPrepared) await target.prepare();
    this.#isPrepared = true;
    if (!batch.isKept) {
      // On disk, together with where it ends in each log, before it is sent for the first time.
      for (const log of logs) await log.prepare();
      await pending.write({ format: target.format, rows, bytes, logs: logs.map(({ state }) => state), packed });
      batch.isKept = true;
    }
    await target.send(packed, signal);
    for (const log of logs) await log.commit();
    this.sentRows += rows;
    this.sentBytes += bytes;
    this.batches++;
    await pending.remove();
  }
}

/** A failure of the archive, or of the disk that positions are kept on. */
export function toProblem(error: unknown): ShipProblem {
  return { code: error instanceof ArchiveError ? error.code : 'ARCHIVE_POSITION', detail: errorMessage(error) };
}

/** More files of one log are not distinguished after the positions were lost. */
const MAX_KNOWN_FILES = 1000;

/** A batch may wait for merges of the server. */
const SEND_TIMEOUT_MS = 60_000;

/** All rows of a partition become one part, stored together or not at all; a distributed table stores them at once. */
const SETTINGS = { max_insert_block_size: 1_048_576, insert_distributed_sync: 1 };

/** Compresses rows to a tenth. */
const GZIP = { level: 1 };

/** A file of which the archive has records. */
export interface KnownFile {
  id: string;
  /** Time of the newest of them; 0 if none has one. */
  toMs: number;
}

/** Sends rows to the table `records` of ClickHouse. All methods throw an `ArchiveError`. */
export class ClickHouseTarget {
  /** What `pack` returns: a batch that was packed as another one, by another version, is made anew. */
  readonly format = 'JSONEachRow.gzip.1';
  readonly #clickhouse: ClickHouse;
  #settings: Readonly<Record<string, number>> = SETTINGS;

  constructor(clickhouse: ClickHouse) {
    this.#clickhouse = clickhouse;
  }

  /** Makes sure that it can take records. Called before the first batch and after failures. */
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
  async send(packed: Buffer, signal: AbortSignal): Promise<void> {
    await this.#clickhouse.insert(`INSERT INTO ${RECORDS} FORMAT JSONEachRow`, {
      body: packed,
      isGzip: true,
      settings: this.#settings,
      signal,
      timeoutMs: SEND_TIMEOUT_MS,
    });
  }

  /** Files of a log of which it has records, newest first: for a node that has lost its positions. */
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
