import { fstatSync, writeSync } from 'node:fs';
import { errorMessage } from '@porthole/contract';
import type { LiveFile } from './live-file.ts';
import { withLogFileSync } from './open-log-file.ts';
import { type Batch, type RecordQueue, resumeBatch } from './record-queue.ts';

/** Large enough that the cost per write is negligible, small enough that one never blocks the disk for long. */
const BATCH_BYTES = 256 * 1024;

/** A full disk rarely recovers within a second; after it did, the operator should not wait long either. */
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5000;

interface LogWriterOptions {
  readonly queue: RecordQueue;
  readonly file: LiveFile;
  /** Formats the record that reports dropped ones. */
  readonly describeDrops: (dropped: number) => string;
}

/** Moves records from the queue to the file, one batch at a time; keeps a failed batch and retries. */
export class LogWriter {
  readonly #queue: RecordQueue;
  readonly #file: LiveFile;
  readonly #describeDrops: (dropped: number) => string;
  #batch: Batch | undefined;
  #step: Promise<boolean> | undefined;
  #isPumping = false;
  #isClosed = false;
  #retryTimer: NodeJS.Timeout | undefined;
  #failuresInRow = 0;
  #written = 0;
  #errors = 0;
  #lastError: string | undefined;

  constructor({ queue, file, describeDrops }: LogWriterOptions) {
    this.#queue = queue;
    this.#file = file;
    this.#describeDrops = describeDrops;
  }

  get counts(): { written: number; errors: number; lastError: string | undefined; isFailing: boolean } {
    const isFailing = this.#failuresInRow > 0;
    return { written: this.#written, errors: this.#errors, lastError: this.#lastError, isFailing };
  }

  /** Only queues the record. */
  push(record: string): void {
    if (this.#isClosed) this.#queue.drop(1);
    else if (this.#queue.push(record)) this.#start();
  }

  countError(thrown: unknown): void {
    this.#errors += 1;
    this.#lastError = errorMessage(thrown);
  }

  /** Resolves when what is queued now is written, or an attempt to write it failed. */
  async flush(): Promise<void> {
    const until = this.#queue.accepted;
    // A running step may have started before the disk recovered; only attempts from now on count.
    await this.#step;
    while (this.#written < until && (await this.#attempt()));
  }

  /** Writes what it can, counts the rest as dropped, and closes the file. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#step;
    while (this.#queue.queuedBytes > 0 && (await this.#attempt()));
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#giveUp();
    await this.#file.close();
  }

  /** For a process that is about to exit: waits for the running write, then writes the rest synchronously. */
  flushSync(): void {
    const rest = this.#queue.take(Number.POSITIVE_INFINITY);
    try {
      flushRestSync(this.#file, [this.#batch, rest]);
      this.#settle(rest);
    } catch (thrown) {
      this.countError(thrown);
      if (rest) this.#queue.putBack(rest);
    }
    this.#file.distrust();
  }

  #start(): void {
    if (this.#isPumping || this.#isClosed || this.#retryTimer) return;
    this.#isPumping = true;
    // Deferred: the records of this turn of the event loop are written together.
    setImmediate(() => void this.#pump());
  }

  async #pump(): Promise<void> {
    while (this.#queue.queuedBytes > 0 && (await this.#attempt()));
    this.#isPumping = false;
  }

  /** Writes one batch; concurrent callers share it. False: it failed and a retry is scheduled. */
  #attempt(): Promise<boolean> {
    this.#step ??= this.#writeBatch().finally(() => {
      this.#step = undefined;
    });
    return this.#step;
  }

  async #writeBatch(): Promise<boolean> {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    try {
      if (!this.#batch) {
        const roomBytes = await this.#file.prepare(this.#queue.firstBytes);
        this.#batch = this.#queue.take(Math.min(BATCH_BYTES, roomBytes));
      }
      if (this.#batch) await this.#file.append(this.#batch);
    } catch (thrown) {
      this.countError(thrown);
      this.#retryLater();
      return false;
    }
    this.#failuresInRow = 0;
    const done = this.#batch;
    this.#batch = undefined;
    this.#settle(done);
    // After a flush during a pause no pump is running, and more records may have arrived.
    if (this.#queue.queuedBytes > 0) this.#start();
    return true;
  }

  #giveUp(): void {
    for (let lost = this.#batch ?? this.#queue.take(Number.POSITIVE_INFINITY); lost; ) {
      this.#queue.drop(lost.records);
      this.#queue.release(lost);
      lost = this.#queue.take(Number.POSITIVE_INFINITY);
    }
    this.#batch = undefined;
  }

  #settle(batch: Batch | undefined): void {
    if (!batch) return;
    this.#written += batch.records;
    this.#queue.release(batch);
    this.#queue.reportDrops(this.#describeDrops);
  }

  #retryLater(): void {
    const waitMs = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** this.#failuresInRow);
    this.#failuresInRow += 1;
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      this.#start();
    }, waitMs).unref();
  }
}

/** A running write needs microseconds; if it takes longer than this, a duplicate record is better than a missing one. */
const IN_FLIGHT_WAIT_MS = 500;

/**
 * Writes the rest of the batches synchronously, in order. Waits for the first one if it is being written. If writing fails,
 * it throws, and the batches know how far they were written.
 */
function flushRestSync(file: LiveFile, batches: readonly (Batch | undefined)[]): void {
  const [current] = batches;
  if (current && hasLanded(file)) current.offset = current.bytes.length;
  const rest = batches.filter((batch) => batch !== undefined && batch.offset < batch.bytes.length);
  if (rest.length === 0) return;
  withLogFileSync(file.path, (fd, stats, isTorn) => {
    let needsLineFeed = isTorn;
    for (const batch of rest) {
      if (batch === undefined) continue;
      if (!resumeBatch(batch, stats) && needsLineFeed) writeSync(fd, '\n');
      needsLineFeed = false;
      writeRestSync(fd, batch);
    }
  });
}

/** The write continues in the thread pool while this thread sleeps; the size of the file shows when it is done. */
function hasLanded(file: LiveFile): boolean {
  const { inFlight } = file;
  if (!inFlight) return false;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; waitedMs < IN_FLIGHT_WAIT_MS; waitedMs += 1) {
    if (fstatSync(inFlight.fd).size >= inFlight.untilBytes) return true;
    Atomics.wait(sleeper, 0, 0, 1);
  }
  return false;
}

function writeRestSync(fd: number, batch: Batch): void {
  try {
    while (batch.offset < batch.bytes.length) batch.offset += writeSync(fd, batch.bytes, batch.offset);
  } catch (thrown) {
    batch.stoppedAt = fstatSync(fd);
    throw thrown;
  }
}
