import { type BigIntStats, constants } from 'node:fs';
import { readdir, readlink, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { closeFd, openFd, statEntry, statFd } from '../fs-calls.ts';
import { LogError, systemCode } from '../log-error.ts';
import type { EntryStats } from './entry-stats.ts';
import { holdsFile, type LogReach, nameBelow, realHomes } from './tree.ts';

/**
 * `O_NONBLOCK`: opening a FIFO without a writer must not block. `O_NOCTTY`: a terminal must not become the controlling
 * terminal. `O_NOFOLLOW`: an entry that became a link after it was checked fails instead of leading out of the
 * directory.
 */
export const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;

/** A descriptor of a file that was proven to be inside the directory, and its stats. */
interface OpenedFile {
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

/** Shown for a byte that is not UTF-8. */
const REPLACEMENT = '\uFFFD';

export interface FoundEntry {
  /** As bytes if the name on disk is not UTF-8. */
  path: string | Buffer;
  /** Stats of the entry itself: links are not followed. */
  stats: BigIntStats;
}

/** Looks up an entry by the name shown in the listing. Rejects as `lstat` does. */
export async function findEntry(dir: string, name: string): Promise<FoundEntry> {
  const path = join(dir, name);
  try {
    return { path, stats: await statEntry(path) };
  } catch (error) {
    const misspelt = systemCode(error) === 'ENOENT' && name.includes(REPLACEMENT) && (await findShownAs(dir, name));
    if (!misspelt) throw error;
    return { path: misspelt, stats: await statEntry(misspelt) };
  }
}

/** The same on this thread, for a local file system; `undefined` if it fails. */
export function findEntryNow(dir: string, name: string, entries: EntryStats): FoundEntry | undefined {
  const path = join(dir, name);
  try {
    return { path, stats: entries.statNow(path) };
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** The path of an entry whose name need not be UTF-8. */
function entryPath(dir: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(dir + sep), name]);
}

/** The only entry shown as `name`; `undefined` if several are, because it could be the wrong one. */
async function findShownAs(dir: string, name: string): Promise<Buffer | undefined> {
  const [found, ...others] = (await readdir(dir, 'buffer')).filter((bytes) => bytes.toString() === name);
  return found && others.length === 0 ? entryPath(dir, found) : undefined;
}

/*
 * Directory entry names as raw bytes, one character per byte (latin1): a name need not be UTF-8, and a `Buffer` for
 * each of 100,000 takes ten times the memory of a string.
 */

const BEYOND_ASCII = /[^\0-\x7f]/;

/** The name as shown: U+FFFD for bytes that are not UTF-8. */
export function shownName(raw: string): string {
  return BEYOND_ASCII.test(raw) ? Buffer.from(raw, 'latin1').toString() : raw;
}

export function rawPath(dir: string, raw: string): string | Buffer {
  return BEYOND_ASCII.test(raw) ? entryPath(dir, Buffer.from(raw, 'latin1')) : dir + sep + raw;
}

/** Longest name Linux file systems accept. */
const MAX_NAME_BYTES = 255;

/**
 * Rejects every name that could mean anything but an entry of the log directory, or of a directory up to `depth` levels
 * below it. Does not access the disk.
 */
export function assertSafeName(name: string, depth = 0): void {
  if (name === '') throw new LogError('FILE_NAME_MISSING', 'the file name is empty');
  const reason = whyRejected(name, depth);
  if (reason) throw new LogError('FILE_NAME_INVALID', `invalid file name: ${reason}`);
}

/** Whether `assertSafeName` accepts this name. */
export function isSafeName(name: string, depth = 0): boolean {
  return whyRejected(name, depth) === undefined;
}

function whyRejected(name: string, depth: number): string | undefined {
  const parts = depth > 0 ? name.split('/') : [name];
  return parts.map(whyUnsafe).find((found) => found !== undefined) ?? whyTooDeep(parts, depth);
}

function whyTooDeep(parts: readonly string[], depth: number): string | undefined {
  return parts.length - 1 > depth ? `it is more than ${depth} directories deep (log.recursive-depth)` : undefined;
}

function whyUnsafe(name: string): string | undefined {
  if (name === '') return 'a directory in it has no name';
  if (name === '.' || name === '..') return '"." and ".." are directories';
  if (name.includes('/') || name.includes('\\')) return 'it must not contain "/" or "\\"';
  if (name.includes('\0')) return 'it must not contain NUL';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `it is longer than ${MAX_NAME_BYTES} bytes`;
  return undefined;
}
