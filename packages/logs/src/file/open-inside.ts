import { type BigIntStats, constants } from 'node:fs';
import { readlink, realpath, stat } from 'node:fs/promises';
import { sep } from 'node:path';
import { LogError, systemCode } from '../log-error.ts';
import type { FoundEntry } from './find-entry.ts';
import { closeFd, openFd, statEntry, statFd } from './fs-calls.ts';

/**
 * `O_NONBLOCK`: opening a FIFO without a writer must not block. `O_NOCTTY`: a terminal must not become the controlling
 * terminal. `O_NOFOLLOW`: an entry that became a link after it was checked fails instead of leading out of the
 * directory.
 */
export const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;

const SEPARATOR = Buffer.from(sep);

/** A descriptor of a file that was proven to be inside the directory, and its stats. */
export interface OpenedFile {
  fd: number;
  stats: BigIntStats;
  /** The real path of a link's target. */
  target: Buffer | undefined;
}

/**
 * Opens one entry of the directory: opens first, then verifies what was opened, never the name alone. `entry` is what
 * the caller found; anything but a file or link is not opened at all, because opening a device can have side effects.
 */
export async function openInside(dir: string, name: string, { path, stats }: FoundEntry): Promise<OpenedFile> {
  if (stats.isSymbolicLink()) return openLink(dir, path, name);
  if (!stats.isFile()) throw notALog(name);
  try {
    return { ...(await openRegular(path, name)), target: undefined };
  } catch (error) {
    if (systemCode(error) === 'ELOOP') return openLink(dir, path, name);
    throw error;
  }
}

async function openLink(dir: string, path: string | Buffer, name: string): Promise<OpenedFile> {
  const home = await realpath(dir, 'buffer');
  const target = await realpath(path, 'buffer');
  if (!isWithin(home, target) || !(await stat(target)).isFile()) throw notALog(name);
  const opened = await openRegular(target, name);
  try {
    // A directory on the path may have been replaced by a link since the check: verify where the opened file really is.
    const real = await resolveTarget(opened, target);
    if (!isWithin(home, real)) throw notALog(name);
    return { ...opened, target: real };
  } catch (error) {
    await closeFd(opened.fd);
    throw error;
  }
}

async function openRegular(path: string | Buffer, name: string): Promise<Omit<OpenedFile, 'target'>> {
  const fd = await openFd(path, READ_FLAGS);
  try {
    const stats = await statFd(fd);
    if (!stats.isFile()) throw notALog(name);
    return { fd, stats };
  } catch (error) {
    await closeFd(fd);
    throw error;
  }
}

/** The real path of the opened file, from the kernel; on other systems, a path that leads to the very same file. */
async function resolveTarget({ fd, stats }: Omit<OpenedFile, 'target'>, path: Buffer): Promise<Buffer> {
  if (process.platform === 'linux') return readlink(`/proc/self/fd/${fd}`, 'buffer');
  const target = await realpath(path, 'buffer');
  const there = await statEntry(target);
  return there.ino === stats.ino && there.dev === stats.dev ? target : Buffer.alloc(0);
}

/**
 * Whether a real path is below a real directory. Compared as bytes, because different paths can decode to the same
 * text.
 */
export function isWithin(home: Buffer, target: Buffer): boolean {
  const prefix = home.subarray(-SEPARATOR.length).equals(SEPARATOR) ? home : Buffer.concat([home, SEPARATOR]);
  return target.length > prefix.length && target.subarray(0, prefix.length).equals(prefix);
}

export function notALog(name: string): LogError {
  return new LogError('LOG_FILE_NOT_FOUND', `no log file named ${JSON.stringify(name)}`);
}
