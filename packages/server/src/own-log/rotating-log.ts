import { basename, resolve } from 'node:path';
import { errorMessage } from '@porthole/contract';
import { ONCE, Shared } from '@porthole/logs/shared';
import { LiveFile } from './live-file.ts';
import { type Batch, RecordQueue } from './record-queue.ts';
import { flushRestSync, RotatedFiles, RotatedNames } from './rotated-files.ts';

const DEFAULT_MAX_QUEUE_BYTES = 4 * 1024 * 1024;

/** Twice the time within which another process writing to the same file notices that it was rotated. */
const DEFAULT_GZIP_DELAY_MS = 2000;

/** Large enough that the cost per write is negligible, small enough that one never blocks the disk for long. */
const BATCH_BYTES = 256 * 1024;

/** A full disk rarely recovers within a second; after it did, the operator should not wait long either. */
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5000;

export interface RotatingLogOptions {
  /** Created if missing, also if it is removed later. */
  readonly dir: string;
  /** Of a directory that is created; by default its group may read it. */
  readonly dirMode?: number;
  readonly fileName: string;
  /** 0: no rotation by size. */
  readonly maxFileBytes: number;
  /** Counted from the file's first record, across restarts. 0: no rotation by age. */
  readonly maxFileAgeMs: number;
  /** Rotated files to keep. 0: all. */
  readonly keepFiles: number;
  /** How long a file is kept after its rotation. 0: forever. */
  readonly keepAgeMs: number;
  readonly gzip: boolean;
  readonly gzipDelayMs?: number;
  /** Size of the queue for a slow or failing disk; more is dropped and reported. */
  readonly maxQueueBytes?: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** The time of a record that starts with this text. */
  readonly parseTime: (head: string) => number | undefined;
  /** The record that reports dropped ones. */
  readonly describeDrops: (dropped: number) => string;
}

export interface RotatingLogStats {
  /** Records written. */
  readonly written: number;
  /** Records lost: the queue was full, or the log was closed. */
  readonly dropped: number;
  /** Failures of any kind since the start: writing, rotating, compressing, removing. */
  readonly errors: number;
  readonly queuedBytes: number;
  /** Not reset after recovery; see `isFailing`. */
  readonly lastError: string | undefined;
  /** The last attempt to write failed; records are queued and it will be retried. */
  readonly isFailing: boolean;
}

/** A log file that is written in the background, one batch at a time, and rotated; a failed batch is kept and retried. */
export class RotatingLog {
  readonly #queue: RecordQueue;
  readonly #file: LiveFile;
  readonly #rotated: RotatedFiles;
  readonly #describeDrops: (dropped: number) => string;
  /** Taken from the queue and not written yet; several only after a synchronous flush that failed. */
  #batches: Batch[] = [];
  readonly #step = new Shared<boolean>();
  readonly #closing = new Shared<void>(ONCE);
  #isClosing = false;
  #isPumping = false;
  #retryTimer: NodeJS.Timeout | undefined;
  #failuresInRow = 0;
  #written = 0;
  #errors = 0;
  #lastError: string | undefined;

  private constructor(options: RotatingLogOptions) {
    const { fileName, gzipDelayMs = DEFAULT_GZIP_DELAY_MS, maxQueueBytes = DEFAULT_MAX_QUEUE_BYTES } = options;
    const names = new RotatedNames(fileName);
    const given = {
      ...options,
      names,
      dir: resolve(options.dir),
      onError: (thrown: unknown) => this.countError(thrown),
    };
    this.#rotated = new RotatedFiles({ ...given, gzipDelayMs });
    this.#file = new LiveFile({ ...given, onRotated: () => this.#rotated.sweep() });
    this.#queue = new RecordQueue(maxQueueBytes);
    this.#describeDrops = options.describeDrops;
  }

  /**
   * Rejects only for an invalid file name. A failing disk does not prevent the start: records are queued, writing is
   * retried, and `stats` shows the failure.
   */
  static async open(options: RotatingLogOptions): Promise<RotatingLog> {
    assertFileName(options.fileName);
    const log = new RotatingLog(options);
    const countError = (thrown: unknown) => log.countError(thrown);
    await log.#rotated.removeTemporaries().catch(countError);
    // Makes `stats` show at once whether the file can be written.
    await log.#file.prepare(0).catch(countError);
    log.#rotated.sweep();
    return log;
  }

  /** Absolute path of the file being written. */
  get file(): string {
    return this.#file.path;
  }

  /** The file did not exist when the log was opened: no other process can be writing to it. */
  get isNew(): boolean {
    return this.#file.wasCreated;
  }

  stats(): RotatingLogStats {
    const { dropped, queuedBytes } = this.#queue;
    const isFailing = this.#failuresInRow > 0;
    return {
      written: this.#written,
      dropped,
      errors: this.#errors,
      queuedBytes,
      lastError: this.#lastError,
      isFailing,
    };
  }

  /** Queues one record with its line feed. Never throws and never waits for the disk. */
  write(record: string): void {
    if (this.#isClosing) this.#queue.drop(1);
    else if (this.#queue.push(record)) this.#start();
  }

  countError(thrown: unknown): void {
    this.#errors += 1;
    this.#lastError = errorMessage(thrown);
  }

  /** Resolves when what is queued now is written, or an attempt to write it failed (see `stats`). */
  async flush(): Promise<void> {
    if (this.#isClosing) return this.close();
    const until = this.#queue.accepted;
    // A running step may have started before the disk recovered; only attempts from now on count.
    await this.#step.last();
    while (this.#written < until && (await this.#attempt()));
  }

  /** Writes what is queued, waits for work on rotated files, closes. Later records count as dropped. */
  close(): Promise<void> {
    this.#isClosing = true;
    return this.#closing.run(() => this.#close());
  }

  /** For a process that is about to exit: waits for the running write, then writes the rest synchronously. */
  flushSync(): void {
    // Its step counts it when it ends.
    const running = this.#step.isRunning ? this.#batches[0] : undefined;
    this.#takeBatch(Number.POSITIVE_INFINITY);
    try {
      flushRestSync(this.#file.path, this.#batches, this.#file.inFlight);
      const done = this.#batches.filter((batch) => batch !== running);
      this.#batches = running ? [running] : [];
      for (const batch of done) this.#settle(batch);
    } catch (thrown) {
      this.countError(thrown);
    }
    this.#file.distrust();
  }

  async #close(): Promise<void> {
    await this.#step.last();
    while (this.#queue.queuedBytes > 0 && (await this.#attempt()));
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#giveUp();
    await this.#file.close();
    await this.#rotated.close();
  }

  #start(): void {
    if (this.#isPumping || this.#isClosing || this.#retryTimer) return;
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
    return this.#step.run(() => this.#writeBatch());
  }

  async #writeBatch(): Promise<boolean> {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    try {
      if (this.#batches.length === 0) {
        const roomBytes = await this.#file.prepare(this.#queue.firstBytes);
        this.#takeBatch(Math.min(BATCH_BYTES, roomBytes));
      }
      const [batch] = this.#batches;
      if (batch) await this.#file.append(batch);
    } catch (thrown) {
      this.countError(thrown);
      this.#retryLater();
      return false;
    }
    this.#failuresInRow = 0;
    const done = this.#batches.shift();
    if (done) this.#settle(done);
    // After a flush during a pause no pump is running, and more records may have arrived.
    if (this.#queue.queuedBytes > 0) this.#start();
    return true;
  }

  #takeBatch(maxBytes: number): void {
    const batch = this.#queue.take(maxBytes);
    if (batch) this.#batches.push(batch);
  }

  #giveUp(): void {
    this.#takeBatch(Number.POSITIVE_INFINITY);
    for (const lost of this.#batches.splice(0)) {
      this.#queue.drop(lost.records);
      this.#queue.release(lost);
    }
  }

  #settle(batch: Batch): void {
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

function assertFileName(fileName: string): void {
  const isPlain = fileName !== '' && basename(fileName) === fileName && !['.', '..'].includes(fileName);
  if (!isPlain || fileName.includes('\0')) throw new TypeError(`"${fileName}" is not a plain file name`);
}
