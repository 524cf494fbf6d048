import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { isLeftOver } from '@porthole/logs';
import { type Owned, owned } from '@porthole/logs/shared';
import { expectCode, hasCode } from '../errors.ts';
import { type Batch, resumeBatch } from './record-queue.ts';

/** Files also expire while nothing is rotated. */
const SWEEP_EVERY_MS = 3_600_000;

interface RotatedFilesOptions {
  readonly dir: string;
  readonly names: RotatedNames;
  readonly gzip: boolean;
  /** How long a file is left alone after its rename: another process may still write to it. */
  readonly gzipDelayMs: number;
  /** 0: no limit. */
  readonly keepFiles: number;
  /** Counted from the rotation. 0: no limit. */
  readonly keepAgeMs: number;
  readonly now: () => number;
  readonly onError: (thrown: unknown) => void;
}

/**
 * Maintains the rotated files in the background: removes expired ones, compresses the rest. Each sweep lists the directory
 * again, so that leftovers of a crash or a failure are handled by the next one.
 */
export class RotatedFiles {
  readonly #options: RotatedFilesOptions;
  #sweeping: Owned | undefined;
  #isSweepWanted = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RotatedFilesOptions) {
    this.#options = options;
  }

  /** Starts a sweep, or schedules another one after the running one. */
  sweep(): void {
    if (this.#isClosed) return;
    this.#isSweepWanted = true;
    this.#sweeping ??= owned(this.#sweepWhileWanted(), this.#options.onError);
  }

  /** Removes temporary files of compressions that a crash interrupted. */
  async removeTemporaries(): Promise<void> {
    const { dir, names } = this.#options;
    for (const name of await listDir(dir)) {
      const pid = names.parseTemporary(name);
      if (pid !== undefined && (await isLeftOver(join(dir, name), pid))) await rm(join(dir, name), { force: true });
    }
  }

  /** Waits for running work. Files that are too young to be compressed are left for the next start. */
  async close(): Promise<void> {
    await this.#sweeping;
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #sweepWhileWanted(): Promise<void> {
    let nextMs = SWEEP_EVERY_MS;
    while (this.#isSweepWanted) {
      this.#isSweepWanted = false;
      try {
        nextMs = await this.#sweepOnce();
      } catch (thrown) {
        this.#options.onError(thrown);
      }
    }
    this.#sweeping = undefined;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.sweep(), nextMs).unref();
  }

  /** Returns the time after which another sweep is useful. */
  async #sweepOnce(): Promise<number> {
    const { dir, names, gzip } = this.#options;
    const found = (await listDir(dir)).map((name) => names.parse(name)).filter((file) => file !== undefined);
    const doomed = this.#chooseDoomed(found);
    for (const { name } of doomed) {
      const path = join(dir, name);
      if ((await statIfExists(path))?.isFile()) await rm(path, { force: true });
    }
    if (!gzip) return SWEEP_EVERY_MS;
    let nextMs = SWEEP_EVERY_MS;
    for (const file of found) {
      if (file.isCompressed || doomed.includes(file)) continue;
      nextMs = Math.min(nextMs, await this.#compress(file.name));
    }
    return nextMs;
  }

  #chooseDoomed(found: readonly RotatedName[]): RotatedName[] {
    const { keepFiles, keepAgeMs, now } = this.#options;
    const newestFirst = [...new Set(found.map(({ plainName }) => plainName))].sort().reverse();
    const tooMany = new Set(keepFiles > 0 ? newestFirst.slice(keepFiles) : []);
    const oldestMs = keepAgeMs > 0 ? now() - keepAgeMs : Number.NEGATIVE_INFINITY;
    return found.filter(({ plainName, rotatedAtMs }) => tooMany.has(plainName) || rotatedAtMs < oldestMs);
  }

  /** A failure affects only this file; it is retried in the next sweep. */
  async #compress(name: string): Promise<number> {
    const { dir, gzipDelayMs, onError } = this.#options;
    const path = join(dir, name);
    try {
      const stats = await statIfExists(path);
      if (!stats?.isFile()) return SWEEP_EVERY_MS;
      // A rename changes ctime, by the system's clock, whatever clock the log uses.
      // clock: compared with times of the file system
      const restMs = Math.min(stats.ctimeMs + gzipDelayMs - Date.now(), gzipDelayMs);
      if (gzipDelayMs > 0 && restMs > 0) return restMs;
      return (await compressRotated(dir, name)) ? SWEEP_EVERY_MS : gzipDelayMs;
    } catch (thrown) {
      if (!hasCode(thrown, 'ENOENT')) onError(thrown);
      return SWEEP_EVERY_MS;
    }
  }
}

async function listDir(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).sort();
  } catch (thrown) {
    // The live file creates the directory, and reports if it cannot.
    if (hasCode(thrown, 'ENOENT', 'ENOTDIR')) return [];
    throw thrown;
  }
}

/**
 * Replaces a rotated file by its compressed form. The original is removed only after the compressed file is on disk under
 * its final name, so a crash at any time leaves at least one of them intact.
 * False: the file changed meanwhile and was left alone; try again later.
 */
export async function compressRotated(dir: string, name: string): Promise<boolean> {
  const source = join(dir, name);
  const target = `${source}.gz`;
  if (await statIfExists(target)) {
    // Either a crash happened between the last two steps, or the file is not ours: then both stay.
    if (await holdsSame(source, target)) await rm(source, { force: true });
    return true;
  }
  const temporary = join(dir, temporaryName(`${name}.gz`));
  try {
    const before = await stat(source);
    const bytes = await writeCompressed(source, temporary, before);
    // Another process may have written one more batch, or the name was reserved and the file appeared only now.
    const after = await stat(source);
    if (after.size !== bytes || after.dev !== before.dev || after.ino !== before.ino) return false;
    await rename(temporary, target);
    await syncDir(dir);
    await rm(source, { force: true });
    return true;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Returns the number of uncompressed bytes. */
async function writeCompressed(source: string, temporary: string, { atime, mtime }: Stats): Promise<number> {
  await using output = await open(temporary, 'wx', 0o640);
  const gzip = createGzip();
  await pipeline(createReadStream(source), gzip, (chunks: AsyncIterable<Buffer>) => writeFile(output, chunks));
  // Readers use the modification time of the file; compression must not change it.
  await output.utimes(atime, mtime);
  await output.sync();
  return gzip.bytesWritten;
}

async function holdsSame(plain: string, compressed: string): Promise<boolean> {
  const inPlain = createHash('sha256');
  const inCompressed = createHash('sha256');
  try {
    await pipeline(createReadStream(plain), inPlain);
    await pipeline(createReadStream(compressed), createGunzip(), inCompressed);
  } catch (thrown) {
    expectCode(thrown);
    return false; // unreadable or damaged: then both files stay, and nothing is lost
  }
  return inPlain.digest('hex') === inCompressed.digest('hex');
}

/** Otherwise a power failure could undo the rename although the original is already removed. */
async function syncDir(dir: string): Promise<void> {
  await using handle = await open(dir, 'r');
  await handle.sync();
}

/** `2026-11-15T00-21-26.600`: UTC, without the colons that some file systems do not allow. */
const STAMP = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/;

/** Names made by `temporaryName`. */
const TEMPORARY = /^\.(.*)\.(\d{1,10})-[0-9a-f]{8}\.tmp$/s;

interface RotatedName {
  readonly name: string;
  /** The name without `.gz`: the same for both forms of one file. */
  readonly plainName: string;
  readonly rotatedAtMs: number;
  readonly isCompressed: boolean;
}

/** Names of rotated files of `fileName`: names that do not match exactly are not ours. */
export class RotatedNames {
  readonly #prefix: string;
  readonly #extension: string;

  constructor(fileName: string) {
    this.#extension = extname(fileName);
    this.#prefix = `${fileName.slice(0, fileName.length - this.#extension.length)}-`;
  }

  /** The name of a file rotated at this time. */
  at(rotatedAtMs: number): string {
    return `${this.#prefix}${toStamp(rotatedAtMs)}${this.#extension}`;
  }

  parse(name: string): RotatedName | undefined {
    const isCompressed = name.endsWith('.gz');
    const plainName = isCompressed ? name.slice(0, -'.gz'.length) : name;
    if (!plainName.startsWith(this.#prefix) || !plainName.endsWith(this.#extension)) return undefined;
    const rotatedAtMs = parseStamp(plainName.slice(this.#prefix.length, plainName.length - this.#extension.length));
    return rotatedAtMs === undefined ? undefined : { name, plainName, rotatedAtMs, isCompressed };
  }

  /** The process id in the name of a temporary file; undefined for any other name. */
  parseTemporary(name: string): number | undefined {
    const [, target = '', pid] = TEMPORARY.exec(name) ?? [];
    return this.parse(target)?.isCompressed ? Number(pid) : undefined;
  }
}

/** Hidden, with process id and a random part, so that two processes never write the same one. */
export function temporaryName(compressedName: string): string {
  const chance = Math.floor(Math.random() * 0x1_0000_0000);
  return `.${compressedName}.${process.pid}-${chance.toString(16).padStart(8, '0')}.tmp`;
}

function toStamp(timeMs: number): string {
  return new Date(timeMs).toISOString().replaceAll(':', '-').slice(0, -'Z'.length);
}

function parseStamp(text: string): number | undefined {
  const match = STAMP.exec(text);
  if (!match) return undefined;
  const timeMs = Date.parse(`${match[1]}T${match[2]}:${match[3]}:${match[4]}Z`);
  // Date.parse accepts the 30th of February; our names never have it.
  return !Number.isNaN(timeMs) && toStamp(timeMs) === text ? timeMs : undefined;
}

const LINE_FEED = 0x0a;

/**
 * Append: every write goes to the end, even with several writers. Read: the last byte shows whether a crash cut a line.
 * Non-blocking: a FIFO without a reader would otherwise block a thread of the pool forever.
 */
const OPEN_FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/** Logs contain information about people and machines: only for owner and group. */
const FILE_MODE = 0o640;
const DIR_MODE = 0o750;

/** So much of the first record is read for its time: the length of `YYYY-MM-DD hh:mm:ss.mmm`. */
const HEAD_BYTES = 23;

export interface OpenedLogFile {
  readonly handle: FileHandle;
  /** Created by this call: no other process can have it open. */
  readonly isNew: boolean;
  readonly stats: Stats;
  /** The start of the first record, if there is one. */
  readonly head: string;
  /** The last line lacks its line feed. */
  readonly isTorn: boolean;
}

/** Creates the directory and the file if they are missing. The caller closes the handle. */
export async function openLogFile(path: string, dirMode = DIR_MODE): Promise<OpenedLogFile> {
  await mkdir(dirname(path), { recursive: true, mode: dirMode });
  const { handle, isNew } = await openOrCreate(path);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size === 0) return { handle, isNew, stats, head: '', isTorn: false };
    const first = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const tail = await handle.read(Buffer.alloc(1), 0, 1, stats.size - 1);
    const head = first.buffer.toString('latin1', 0, first.bytesRead);
    return { handle, isNew, stats, head, isTorn: tail.bytesRead === 1 && tail.buffer[0] !== LINE_FEED };
  } catch (thrown) {
    await handle.close();
    throw thrown;
  }
}

/** Exclusively at first: if two processes start at the same time, exactly one creates the file. */
async function openOrCreate(path: string): Promise<Pick<OpenedLogFile, 'handle' | 'isNew'>> {
  try {
    return { handle: await open(path, OPEN_FLAGS | constants.O_EXCL, FILE_MODE), isNew: true };
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    return { handle: await open(path, OPEN_FLAGS, FILE_MODE), isNew: false };
  }
}

/** Does not follow links: their targets are not ours. */
export async function statIfExists(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return undefined;
    throw thrown;
  }
}

/** A running write: it is done when the file has that many bytes. */
export interface InFlight {
  readonly fd: number;
  readonly untilBytes: number;
}

/** A running write needs microseconds; if it takes longer than this, a duplicate record is better than a missing one. */
const IN_FLIGHT_WAIT_MS = 500;

/**
 * Writes the rest of the batches synchronously, in order. Waits for the first one if it is being written. If writing fails,
 * it throws, and the batches know how far they were written.
 */
export function flushRestSync(path: string, batches: readonly Batch[], inFlight: InFlight | undefined): void {
  const [current] = batches;
  if (current && inFlight && hasLanded(inFlight)) current.offset = current.bytes.length;
  const rest = batches.filter((batch) => batch.offset < batch.bytes.length);
  if (rest.length === 0) return;
  withLogFileSync(path, (fd, stats, isTorn) => {
    let needsLineFeed = isTorn;
    for (const batch of rest) {
      if (!resumeBatch(batch, stats) && needsLineFeed) writeSync(fd, '\n');
      needsLineFeed = false;
      writeRestSync(fd, batch);
    }
  });
}

/** Calls `use` with the open file and closes it. */
function withLogFileSync(path: string, use: (fd: number, stats: Stats, isTorn: boolean) => void): void {
  mkdirSync(dirname(path), { recursive: true, mode: DIR_MODE });
  const fd = openSync(path, OPEN_FLAGS, FILE_MODE);
  try {
    const stats = fstatSync(fd);
    const last = Buffer.from([LINE_FEED]);
    if (stats.isFile() && stats.size > 0) readSync(fd, last, 0, 1, stats.size - 1);
    use(fd, stats, last[0] !== LINE_FEED);
  } finally {
    closeSync(fd);
  }
}

/** The write continues in the thread pool while this thread sleeps; the size of the file shows when it is done. */
function hasLanded({ fd, untilBytes }: InFlight): boolean {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; waitedMs < IN_FLIGHT_WAIT_MS; waitedMs += 1) {
    if (fstatSync(fd).size >= untilBytes) return true;
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
