import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expectCode, hasCode } from '../errors.ts';
import { type Batch, resumeBatch } from './record-queue.ts';
import { type InFlight, type OpenedLogFile, openLogFile, type RotatedNames, statIfExists } from './rotated-files.ts';

/** How long records may go to a file that was renamed (logrotate) or deleted; saves one stat per batch. */
const IDENTITY_CHECK_MS = 1000;

/** A failed rename (read-only directory) is not retried for every batch; records still go to the file. */
const ROTATION_RETRY_MS = 10_000;

interface LiveFileOptions {
  readonly dir: string;
  readonly dirMode?: number | undefined;
  readonly fileName: string;
  readonly names: RotatedNames;
  /** The time of a record that starts with this text. */
  readonly parseTime: (head: string) => number | undefined;
  readonly now: () => number;
  /** 0: no limit. */
  readonly maxFileBytes: number;
  /** Counted from the first record. 0: no limit. */
  readonly maxFileAgeMs: number;
  readonly onRotated: () => void;
  readonly onError: (thrown: unknown) => void;
}

/** The live file: opens, checks and rotates it. One call at a time. */
export class LiveFile {
  readonly path: string;
  readonly #options: LiveFileOptions;
  #handle: FileHandle | undefined;
  #wasCreated: boolean | undefined;
  #dev = 0;
  #ino = 0;
  #bytes = 0;
  #birthMs: number | undefined;
  #isTorn = false;
  #isDistrusted = false;
  #canRotate = false;
  #checkedMs = 0;
  #noRotationBeforeMs = Number.NEGATIVE_INFINITY;
  #lastStampMs = Number.NEGATIVE_INFINITY;
  #inFlight: InFlight | undefined;

  constructor(options: LiveFileOptions) {
    this.#options = options;
    this.path = join(options.dir, options.fileName);
  }

  /** The file did not exist when it was first opened. */
  get wasCreated(): boolean {
    return this.#wasCreated ?? false;
  }

  get inFlight(): InFlight | undefined {
    return this.#inFlight;
  }

  /** Prepares the file for the next record: opened, current, rotated if due. Returns how many bytes it may grow. */
  async prepare(recordBytes: number): Promise<number> {
    await this.#ensureCurrent(IDENTITY_CHECK_MS);
    if (this.#isDue(recordBytes)) {
      // Another process may have rotated or truncated the file since the last check.
      await this.#ensureCurrent(0);
      if (this.#isDue(recordBytes)) await this.#rotate();
    }
    return this.#roomBytes();
  }

  /** Writes the rest of the batch. On failure the file is closed, and the batch knows how far it was written. */
  async append(batch: Batch): Promise<void> {
    // Reopens the file after a failure. It never rotates here: that would split a record.
    const handle = await this.#ensureCurrent(IDENTITY_CHECK_MS);
    const continues = resumeBatch(batch, { dev: this.#dev, ino: this.#ino, size: this.#bytes });
    try {
      if (this.#isTorn && !continues) this.#bytes += (await handle.write('\n')).bytesWritten;
      this.#isTorn = false;
      this.#birthMs ??= this.#options.now();
      this.#inFlight = { fd: handle.fd, untilBytes: this.#bytes + batch.bytes.length - batch.offset };
      this.#bytes += await writeRest(handle, batch);
    } catch (thrown) {
      this.#inFlight = undefined;
      batch.stoppedAt = await handle.stat().catch(expectCode); // unknown: the whole batch is written again
      await this.close();
      throw thrown;
    }
    this.#inFlight = undefined;
  }

  /** The file was written by other means: its state is read again before the next use. */
  distrust(): void {
    this.#isDistrusted = true;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    // Nothing is lost if close fails: the written bytes are already with the system.
    await handle?.close().catch(this.#options.onError);
  }

  async #ensureCurrent(checkEveryMs: number): Promise<FileHandle> {
    const nowMs = this.#options.now();
    if (this.#isDistrusted) await this.close();
    // In both directions: a clock that was set back must not stop the checks.
    if (this.#handle && Math.abs(nowMs - this.#checkedMs) < checkEveryMs) return this.#handle;
    if (this.#handle && !(await this.#isStillAtPath())) await this.close();
    const handle = this.#handle ?? this.#adopt(await openLogFile(this.path, this.#options.dirMode));
    this.#checkedMs = nowMs;
    return handle;
  }

  async #isStillAtPath(): Promise<boolean> {
    try {
      const { dev, ino, size } = await stat(this.path);
      if (dev !== this.#dev || ino !== this.#ino) return false;
      // Smaller: truncated in place (copytruncate), so its first record is gone.
      if (size < this.#bytes) this.#birthMs = undefined;
      this.#bytes = size;
      return true;
    } catch (thrown) {
      // Other errors say nothing about the open file, which still accepts records.
      return !hasCode(thrown, 'ENOENT', 'ENOTDIR');
    }
  }

  #adopt({ handle, isNew, stats, head, isTorn }: OpenedLogFile): FileHandle {
    this.#handle = handle;
    this.#wasCreated ??= isNew;
    this.#isDistrusted = false;
    this.#dev = stats.dev;
    this.#ino = stats.ino;
    this.#bytes = stats.size;
    this.#isTorn = isTorn;
    this.#canRotate = stats.isFile();
    // The time of the first record: not every file system stores a birth time, and no copy preserves it.
    const writtenMs = stats.birthtimeMs > 0 ? Math.min(stats.birthtimeMs, stats.mtimeMs) : stats.mtimeMs;
    this.#birthMs = stats.size === 0 ? undefined : (this.#options.parseTime(head) ?? writtenMs);
    return handle;
  }

  /** A file beyond its limit could not be rotated: it then takes complete batches instead of single records. */
  #roomBytes(): number {
    const { maxFileBytes } = this.#options;
    const isLimited = maxFileBytes > 0 && this.#bytes < maxFileBytes;
    return isLimited ? maxFileBytes - this.#bytes : Number.POSITIVE_INFINITY;
  }

  #isDue(recordBytes: number): boolean {
    const { maxFileBytes, maxFileAgeMs, now } = this.#options;
    const nowMs = now();
    if (!this.#canRotate || this.#bytes === 0 || nowMs < this.#noRotationBeforeMs) return false;
    if (maxFileBytes > 0 && this.#bytes + recordBytes > maxFileBytes) return true;
    return maxFileAgeMs > 0 && this.#birthMs !== undefined && nowMs - this.#birthMs >= maxFileAgeMs;
  }

  async #rotate(): Promise<void> {
    const { now, onRotated, onError } = this.#options;
    try {
      // Later than the last one even if the clock was set back, so that names sort like the records.
      const atMs = Math.max(now(), this.#lastStampMs + 1);
      this.#lastStampMs = await moveAside(this.#options, atMs);
    } catch (thrown) {
      this.#noRotationBeforeMs = now() + ROTATION_RETRY_MS;
      onError(thrown);
      return;
    }
    await this.close();
    onRotated();
    await this.#ensureCurrent(0);
  }
}

/** The part of a file handle that writing needs. */
interface ByteSink {
  write(bytes: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }>;
}

/** Writes the whole batch: a single write may be partial. Returns the bytes written. */
export async function writeRest(sink: ByteSink, batch: Batch): Promise<number> {
  const from = batch.offset;
  while (batch.offset < batch.bytes.length) {
    const { bytesWritten } = await sink.write(batch.bytes, batch.offset, batch.bytes.length - batch.offset);
    if (bytesWritten === 0) throw new Error('the system accepted no bytes of the log');
    batch.offset += bytesWritten;
  }
  return batch.offset - from;
}

/**
 * Renames the live file to the first free rotated name at or after `atMs`; returns the time in that name.
 * The name is reserved by creating it exclusively, because rename alone would silently replace a file.
 */
async function moveAside({ dir, fileName, names }: LiveFileOptions, atMs: number): Promise<number> {
  for (let stampMs = atMs; ; stampMs += 1) {
    const target = join(dir, names.at(stampMs));
    if (!(await reserve(target))) continue;
    try {
      await rename(join(dir, fileName), target);
      return stampMs;
    } catch (thrown) {
      await unlink(target);
      throw thrown;
    }
  }
}

async function reserve(target: string): Promise<boolean> {
  if (await statIfExists(`${target}.gz`)) return false;
  try {
    await (await open(target, 'wx', 0o640)).close();
    return true;
  } catch (thrown) {
    if (hasCode(thrown, 'EEXIST')) return false;
    throw thrown;
  }
}
