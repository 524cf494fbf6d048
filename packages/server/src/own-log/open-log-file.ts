import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, type Stats, writeSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../errors.ts';
import { type Batch, resumeBatch } from './record-queue.ts';

const LINE_FEED = 0x0a;

/**
 * Append: every write goes to the end, even with several writers. Read: the last byte shows whether a crash cut a line.
 * Non-blocking: a FIFO without a reader would otherwise block a thread of the pool forever.
 */
const OPEN_FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/** Logs contain information about people and machines: only for owner and group. */
const FILE_MODE = 0o640;
const DIR_MODE = 0o750;

/** Of the first record, for its time: length of `YYYY-MM-DD hh:mm:ss.mmm`. */
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
export async function openLogFile(path: string): Promise<OpenedLogFile> {
  await mkdir(dirname(path), { recursive: true, mode: DIR_MODE });
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
