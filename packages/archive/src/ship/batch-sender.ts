import { owned, Shared } from '@porthole/logs/shared';
import { SinkError } from '../sink-error.ts';
import type { LineWriter } from './line-writer.ts';
import type { LogReader } from './log-reader.ts';
import type { LogCheckpoint, PendingBatch } from './positions.ts';
import { type Refusal, type ShipProblem, type Sink, toProblem } from './sink.ts';

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

/** Collects the records of a node's logs, as a sink wants them. */
export class BatchBuilder {
  readonly writer: LineWriter;
  readonly #sink: Pick<Sink, 'limits' | 'pack'>;
  readonly #readers = new Set<LogReader>();
  readonly #maxRows: number | undefined;
  #rows = 0;

  constructor(sink: Pick<Sink, 'createWriter' | 'limits' | 'pack'>, maxRows?: number) {
    this.writer = sink.createWriter();
    this.#sink = sink;
    this.#maxRows = maxRows;
  }

  get isFull(): boolean {
    const { bytes, records } = this.#sink.limits;
    return this.writer.length >= bytes || this.#rows >= (this.#maxRows ?? records) || this.writer.isFull;
  }

  /** Notes a record that was just written. */
  add(reader: LogReader): void {
    this.#rows++;
    this.#readers.add(reader);
  }

  /**
   * What was collected; `undefined` if nothing was. Packed here, where the rows are: copies of them would be what most of
   * the memory of shipping is for. No rows are added until it resolves.
   */
  async take(): Promise<BuiltBatch | undefined> {
    if (this.#rows === 0) return undefined;
    const packed = await this.#sink.pack(this.writer.written);
    const logs = [...this.#readers].map((reader) => reader.checkpoint());
    const batch = { packed, isKept: false, rows: this.#rows, bytes: this.writer.length, logs };
    this.writer.clear();
    this.#rows = 0;
    this.#readers.clear();
    return batch;
  }
}

interface BatchSenderDeps {
  sink: Sink;
  /** Keeps the batch in flight: after a crash, the very same one is sent again. */
  pending: PendingBatch;
  signal: AbortSignal;
  /** Resolves after so long, or once the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>;
  onProblem(problem: ShipProblem | undefined): void;
  /** Records are not sent again. */
  onRefused(refusal: Refusal): void;
}

/** Sends one batch after the other, each until it is stored: again and again, the very same rows. */
export class BatchSender {
  sentRows = 0;
  sentBytes = 0;
  batches = 0;
  retries = 0;
  refusedRows = 0;
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
      (error) => this.#deps.onProblem(toProblem(error, this.#deps.sink)),
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
    const { sink, signal, sleep, onProblem } = this.#deps;
    for (let waitMs = FIRST_WAIT_MS; !signal.aborted; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
      try {
        await this.#send(batch);
        onProblem(undefined);
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.retries++;
        this.#isPrepared = false;
        onProblem(toProblem(error, sink));
        const { retryAfterMs = 0 } = error instanceof SinkError ? error : {};
        // Not all nodes at the same moment.
        await sleep(Math.max(waitMs, retryAfterMs) * (0.75 + Math.random() / 2) + retryAfterMs / 4, signal);
      }
    }
  }

  async #send(batch: BuiltBatch): Promise<void> {
    const { sink, pending, signal, onRefused } = this.#deps;
    const { rows, bytes, packed, logs } = batch;
    if (!this.#isPrepared) await sink.prepare();
    this.#isPrepared = true;
    if (!batch.isKept) {
      // On disk, together with where it ends in each log, before it is sent for the first time.
      for (const log of logs) await log.prepare();
      await pending.write({ format: sink.format, rows, bytes, logs: logs.map(({ state }) => state), packed });
      batch.isKept = true;
    }
    const refused = await sink.send({ packed, records: rows }, signal);
    for (const log of logs) await log.commit();
    this.sentRows += rows - refused.records;
    this.refusedRows += refused.records;
    if (refused.records > 0 || refused.detail !== '') onRefused(refused);
    this.sentBytes += bytes;
    this.batches++;
    await pending.remove();
  }
}
