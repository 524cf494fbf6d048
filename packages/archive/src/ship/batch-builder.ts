import type { LogReader } from './log-reader.ts';
import type { LogCheckpoint } from './pending-batch.ts';
import { RowKernel } from './row-kernel.ts';

/** Large enough that ClickHouse makes few parts, small enough for a node's memory. */
const MAX_BYTES = 6 * 1024 ** 2;
const MAX_ROWS = 50_000;

/** Each is a partition, and thus a part of its own: servers refuse more than a hundred in one insert. */
const MAX_DAYS = 40;

/** Rows of one or more logs, and what is known to be shipped once they are stored. */
export interface BuiltBatch {
  /** What is sent, again and again if need be. */
  packed: Buffer;
  /** Whether it is on disk, as it is before it is sent. */
  isKept: boolean;
  rows: number;
  /** Of the rows, not packed. */
  bytes: number;
  /** Logs with rows in it. */
  logs: readonly LogCheckpoint[];
}

/** Collects the rows of a node's logs. */
export class BatchBuilder {
  readonly writer = new RowKernel(MAX_BYTES);
  readonly #readers = new Set<LogReader>();
  readonly #days = new Set<string>();
  rows = 0;
  readonly #maxRows: number;

  constructor(maxRows = MAX_ROWS) {
    this.#maxRows = maxRows;
  }

  get isFull(): boolean {
    return this.writer.length >= MAX_BYTES || this.rows >= this.#maxRows || this.#days.size >= MAX_DAYS;
  }

  /** How many rows more it takes. */
  get room(): number {
    return this.#maxRows - this.rows;
  }

  /** Notes rows of one day that were just written. */
  add(reader: LogReader, rows: number, day: string): void {
    this.rows += rows;
    this.#days.add(day);
    this.#readers.add(reader);
  }

  /**
   * What was collected; `undefined` if nothing was. Packed here, where the rows are: copies of them would be what most of
   * the memory of shipping is for. No rows are added until it resolves.
   */
  async take(pack: (rows: Buffer) => Promise<Buffer>): Promise<BuiltBatch | undefined> {
    if (this.rows === 0) return undefined;
    const packed = await pack(this.writer.rows);
    const logs = [...this.#readers].map((reader) => reader.checkpoint());
    const batch = { packed, isKept: false, rows: this.rows, bytes: this.writer.length, logs };
    this.writer.clear();
    this.rows = 0;
    this.#readers.clear();
    this.#days.clear();
    return batch;
  }
}
