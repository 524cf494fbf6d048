import { owned, Shared } from '@porthole/logs/shared';
import { ArchiveError } from '../archive-error.ts';
import { messageOf } from '../clickhouse/credentials.ts';
import type { BuiltBatch } from './batch-builder.ts';
import type { PendingBatch } from './pending-batch.ts';
import type { RecordTarget } from './record-target.ts';

/** Why nothing is shipped now. */
export interface ShipProblem {
  code: string;
  detail: string;
}

export interface BatchSenderDeps {
  target: RecordTarget;
  /** Keeps the batch in flight: after a crash, the very same one is sent again. */
  pending: PendingBatch;
  signal: AbortSignal;
  /** Resolves after so long, or once the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  onProblem(problem: ShipProblem | undefined): void;
}

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;

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

  /** One batch is sent while the next one is collected; a third one has to wait. */
  get isFull(): boolean {
    return this.#next !== undefined;
  }

  /** Sends a batch as soon as the one before is stored. Only if it is not full. */
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

  /** Waits for room, at most so long; whether there is. */
  async room(waitMs: number): Promise<boolean> {
    const { signal, sleep } = this.#deps;
    const endAt = performance.now() + waitMs;
    // Not a signal with a timeout: where nobody listens to one, it may be collected before it aborts.
    while (this.isFull && !signal.aborted && performance.now() < endAt) await sleep(ROOM_POLL_MS, signal);
    return !this.isFull;
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
    if (!this.#isPrepared) await target.prepare(signal);
    this.#isPrepared = true;
    await this.#keep(batch);
    await target.send(batch.packed, signal);
    for (const log of batch.logs) await log.commit();
    this.sentRows += batch.rows;
    this.sentBytes += batch.bytes;
    this.batches++;
    await pending.remove();
  }

  /** Writes it to disk, together with where it ends in each log, before it is sent for the first time. */
  async #keep(batch: BuiltBatch): Promise<void> {
    if (batch.isKept) return;
    const { target, pending } = this.#deps;
    for (const log of batch.logs) await log.prepare();
    const { rows, bytes, packed } = batch;
    await pending.write({ format: target.format, rows, bytes, logs: batch.logs.map(({ state }) => state), packed });
    batch.isKept = true;
  }
}

/** Short: a batch takes tens of milliseconds to send. */
const ROOM_POLL_MS = 20;

/** A failure of the archive, or of the disk that positions are kept on. */
export function toProblem(error: unknown): ShipProblem {
  return { code: error instanceof ArchiveError ? error.code : 'ARCHIVE_POSITION', detail: messageOf(error) };
}
