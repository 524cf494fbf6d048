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
  /** Rows as lines of JSON, until they are packed: from then on the very same bytes are sent. */
  body: { rows: Buffer } | { packed: Buffer };
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

  /** What was collected; `undefined` if nothing was. */
  take(): BuiltBatch | undefined {
    if (this.rows === 0) return undefined;
    const logs = [...this.#readers].map((reader) => reader.checkpoint());
    const rows = this.writer.take();
    const batch = { body: { rows }, rows: this.rows, bytes: rows.length, logs };
    this.rows = 0;
    this.#readers.clear();
    this.#days.clear();
    return batch;
  }
}
