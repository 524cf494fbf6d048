import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { systemCode } from '../log-error.ts';
import type { LogHandle } from './handle-cache.ts';

/**
 * File system clocks tick every few milliseconds, old ones every second or two: a file written twice within one tick
 * has the same stamp before and after. A file unchanged for longer gets a new stamp with its next change.
 */
const TICK_MS = 2000;

/**
 * A program that writes to mapped memory can change a dirty page without a new stamp until the kernel writes it back:
 * after half a minute at most, unless configured otherwise.
 */
const MAPPED_MS = 60_000;

type Times = Pick<LogHandle, 'modifiedNs' | 'changedNs'>;

type Stamped = Pick<LogHandle, 'dev' | 'ino' | 'sizeBytes' | 'modifiedNs' | 'changedNs'>;

/** Changes with every change of the file, within the limits of `isSettled` and `isSettledForWriters`. */
export function fileStamp({ dev, ino, sizeBytes, modifiedNs, changedNs }: Stamped): string {
  return `${dev}:${ino}:${sizeBytes}:${modifiedNs}:${changedNs}`;
}

export function statsStamp({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return fileStamp({ dev, ino, sizeBytes: Number(size), modifiedNs: mtimeNs, changedNs: ctimeNs });
}

/** Whether any change from now on changes the stamp. Data cached by a stamp must have been read while this was true. */
// clock: compared with times of the file system
export function isSettled(file: Times, nowMs = Date.now()): boolean {
  return quietMs(file, nowMs) >= TICK_MS;
}

/** The same for files that a program may be writing to, including through mapped memory. */
// clock: compared with times of the file system
export function isSettledForWriters(file: Times, nowMs = Date.now()): boolean {
  return quietMs(file, nowMs) >= MAPPED_MS;
}

/** Negative for a file with a timestamp in the future, of which nothing can be concluded. */
function quietMs({ modifiedNs, changedNs }: Times, nowMs: number): number {
  const latestNs = modifiedNs > changedNs ? modifiedNs : changedNs;
  return nowMs - Number(latestNs / 1_000_000n);
}

/**
 * Changes within one tick of the kernel clock get the same timestamp; coarse clocks tick every 10 ms, FAT every two
 * seconds.
 */
const TICK_NS = 2_000_000_000n;

/** Detects whether the names in a directory may have changed. */
export class DirStamp {
  readonly #dir: string;
  readonly #stamp: string | undefined;

  private constructor(dir: string, stamp: string | undefined) {
    this.#dir = dir;
    this.#stamp = stamp;
  }

  static async take(dir: string): Promise<DirStamp> {
    return new DirStamp(dir, await readDirStamp(dir));
  }

  /** Whether any change from now on changes it. */
  get isCertain(): boolean {
    return this.#stamp !== undefined;
  }

  /** False unless it is certain. */
  async isSame(): Promise<boolean> {
    return this.#stamp !== undefined && this.#stamp === (await readDirStamp(this.#dir));
  }

  /** The same on this thread: only for a local file system. */
  isSameNow(): boolean {
    try {
      return this.#stamp !== undefined && this.#stamp === toDirStamp(statSync(this.#dir, { bigint: true }));
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return false;
    }
  }
}

async function readDirStamp(dir: string): Promise<string | undefined> {
  try {
    return toDirStamp(await stat(dir, { bigint: true }));
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** `undefined` if another change could get the same timestamp. */
function toDirStamp({ dev, ino, mtimeNs, ctimeNs }: BigIntStats): string | undefined {
  // A program may set the time of the last modification, as `rsync` does, but not that of the last change.
  const latestNs = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
  const isOld = BigInt(Date.now()) * 1_000_000n - latestNs > TICK_NS; // clock: compared with times of the file system
  return isOld ? `${dev}:${ino}:${mtimeNs}:${ctimeNs}` : undefined;
}
