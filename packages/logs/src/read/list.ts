import type { BigIntStats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { entryPath } from '../file/find-entry.ts';
import { statEntry } from '../file/fs-calls.ts';
import { isWithin } from '../file/open-inside.ts';
import { LogError, systemCode } from '../log-error.ts';
import type { LogEntry } from '../types.ts';

/** Looks at entries under way at once: more do not help four threads of the pool, and would queue before other requests. */
const PARALLEL_LOOKS = 16;

/** A listed file and what the system knows of it. */
export interface SeenFile extends LogEntry {
  stats: BigIntStats;
}

export interface ListOptions {
  /** Spares looking at the others. */
  wanted?(name: string): boolean;
  /** Neither files of such names nor links to them are there. */
  isHidden?(name: string): boolean;
}

/**
 * Every regular file directly in the directory, and links that stay inside it, by name. A missing directory is empty.
 * A name that is not UTF-8 is shown with U+FFFD for the bytes that are not.
 */
export async function listFiles(
  dir: string,
  { wanted = () => true, isHidden = () => false }: ListOptions = {},
): Promise<SeenFile[]> {
  const names = await readNames(dir);
  return statFiles(
    dir,
    names.filter((name) => wanted(name.toString()) && !isHidden(name.toString())),
    { isHidden },
  );
}

/** Those of the entries that are files, by name. */
export async function statFiles(
  dir: string,
  names: readonly Buffer[],
  { isHidden = () => false }: Pick<ListOptions, 'isHidden'>,
): Promise<SeenFile[]> {
  const queue = names.values();
  const files: SeenFile[] = [];
  const worker = async () => {
    for (const name of queue) {
      const stats = await lookAt(dir, entryPath(dir, name), isHidden);
      if (stats?.isFile()) files.push({ name: name.toString(), size: Number(stats.size), stats });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_LOOKS }, worker));
  return files.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/**
 * Names only, as bytes. Asked for types too, Node looks at each entry itself where the file system does not tell
 * them, and fails altogether when one of them has gone meanwhile.
 */
export async function readNames(dir: string): Promise<Buffer[]> {
  try {
    return await readdir(dir, 'buffer');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw dirUnreadable(error);
  }
}

/** What an entry is, or `undefined` for one that leads out of the directory, nowhere, or has gone meanwhile. */
async function lookAt(
  dir: string,
  path: Buffer,
  isHidden: (name: string) => boolean,
): Promise<BigIntStats | undefined> {
  try {
    const stats = await statEntry(path);
    return stats.isSymbolicLink() ? await lookBehind(dir, path, isHidden) : stats;
  } catch (error) {
    // Only the directory itself can deny a look at its entries; no entry must not look like an empty directory.
    if (systemCode(error) === 'EACCES') throw dirUnreadable(error);
    return undefined;
  }
}

async function lookBehind(
  dir: string,
  link: Buffer,
  isHidden: (name: string) => boolean,
): Promise<BigIntStats | undefined> {
  try {
    const target = await realpath(link, 'buffer');
    if (isHidden(basename(target.toString()))) return undefined;
    return isWithin(await realpath(dir, 'buffer'), target) ? await stat(target, { bigint: true }) : undefined;
  } catch {
    return undefined;
  }
}

function dirUnreadable(cause: unknown): LogError {
  return new LogError('LOG_DIR_UNREADABLE', `the log directory cannot be read: ${systemCode(cause)}`, { cause });
}
