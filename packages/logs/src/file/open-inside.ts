import { type BigIntStats, constants } from 'node:fs';
import { readlink, realpath, stat } from 'node:fs/promises';
import { closeFd, openFd, statEntry, statFd } from '../fs-calls.ts';
import { LogError, systemCode } from '../log-error.ts';
import type { FoundEntry } from './find-entry.ts';
import { holdsFile, type LogReach, nameBelow, realHomes } from './tree.ts';

/**
 * `O_NONBLOCK`: opening a FIFO without a writer must not block. `O_NOCTTY`: a terminal must not become the controlling
 * terminal. `O_NOFOLLOW`: an entry that became a link after it was checked fails instead of leading out of the
 * directory.
 */
export const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;

/** A descriptor of a file that was proven to be inside the directory, and its stats. */
export interface OpenedFile {
  fd: number;
  stats: BigIntStats;
  /** For a link, or a file in a directory below: its real path below the log directory, or its name elsewhere. */
  target: string | undefined;
}

/**
 * Opens one entry of the directory: opens first, then verifies what was opened, never the name alone. `entry` is what
 * the caller found; anything but a file or link is not opened at all, because opening a device can have side effects.
 */
export async function openInside(
  dir: string,
  name: string,
  { path, stats, roots = [], own }: FoundEntry & Partial<LogReach>,
): Promise<OpenedFile> {
  // A directory on the way to it may be a link as well.
  if (stats.isSymbolicLink() || name.includes('/')) return openLink(dir, name, { path, roots, own });
  if (!stats.isFile()) throw notALog(name);
  try {
    return { ...(await openRegular(path, name)), target: undefined };
  } catch (error) {
    if (systemCode(error) === 'ELOOP') return openLink(dir, name, { path, roots, own });
    throw error;
  }
}

async function openLink(
  dir: string,
  name: string,
  { path, ...reach }: Pick<FoundEntry, 'path'> & LogReach,
): Promise<OpenedFile> {
  const homes = await realHomes(dir, reach);
  const target = await realpath(path, 'buffer');
  if (!holdsFile(homes, target) || !(await stat(target)).isFile()) throw notALog(name);
  const opened = await openRegular(target, name);
  try {
    // A directory on the path may have been replaced by a link since the check: verify where the opened file really is.
    const real = await resolveTarget(opened, target);
    if (!holdsFile(homes, real)) throw notALog(name);
    return { ...opened, target: nameBelow(homes, real) };
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

export function notALog(name: string): LogError {
  return new LogError('LOG_FILE_NOT_FOUND', `no log file named ${JSON.stringify(name)}`);
}
