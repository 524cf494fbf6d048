import type { BigIntStats } from 'node:fs';
import { opendir, readdir, realpath, stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { rawPath, shownName } from '../file/find-entry.ts';
import { statEntry } from '../file/fs-calls.ts';
import { isHomeOrWithin, nameBelow, realHomes } from '../file/tree.ts';
import { LogError, systemCode, ThreadLost } from '../log-error.ts';
import type { StatResult } from '../scan/jobs.ts';
import { ENTRY_KINDS, STAT_NUMBERS } from '../scan/tasks/stat-entries.ts';
import type { LogEntry } from '../types.ts';
import { SeenStats } from './seen-stats.ts';

/** Concurrent stat calls: more do not help the four threads of the pool, and would queue before other requests. */
const PARALLEL_STATS = 16;

/**
 * From this many entries on, worker threads stat them. That takes a third of the time, but they run at a low priority:
 * the listing of an ordinary directory must not wait for them on a busy machine.
 */
const MIN_MANY = 10_000;

/** A thread takes a few milliseconds for these. */
const NAMES_PER_JOB = 500;
const JOBS_AT_ONCE = 4;

/** Names processed before yielding. */
export const NAMES_PER_TURN = 2000;

/** Names read with one call if only a few are needed. */
const NAMES_AT_ONCE = 256;

/** A listed file and its stats. */
export interface SeenFile extends LogEntry {
  stats: SeenStats;
  /** The entry is a link; the other fields describe its target. */
  isLink: boolean;
}

export interface ListOptions {
  /** Filters names before they are examined. */
  wanted?(name: string): boolean;
  /** Files with such names, and links to them, are treated as missing. */
  isHidden?(name: string): boolean;
  /** Directories that links may lead to, besides this one. */
  roots?: readonly string[];
  /** Stats many entries at once, in worker threads; used from `manyFrom` entries on. */
  manyFrom?: number | undefined;
  statMany?: ((names: readonly string[]) => Promise<StatResult>) | undefined;
}

/**
 * Every regular file directly in the directory, and links that stay inside it, sorted by name. A missing directory is
 * empty. A name that is not UTF-8 is shown with U+FFFD for the invalid bytes.
 */
export async function listFiles(
  dir: string,
  { wanted = () => true, isHidden = () => false, roots, statMany, manyFrom }: ListOptions = {},
): Promise<SeenFile[]> {
  const names = await readNames(dir);
  const some: string[] = [];
  for (const [index, raw] of names.entries()) {
    const name = shownName(raw);
    if (wanted(name) && !isHidden(name)) some.push(raw);
    // Testing for hidden names takes several regexes for each name.
    if (index % NAMES_PER_TURN === NAMES_PER_TURN - 1) await nextTurn();
  }
  return statFiles(dir, some, { isHidden, ...(roots && { roots }), statMany, manyFrom });
}

/** The entries that are files, sorted by name. The names are raw. */
export async function statFiles(
  dir: string,
  names: readonly string[],
  { isHidden = () => false, roots = [], statMany, manyFrom = MIN_MANY }: Omit<ListOptions, 'wanted'>,
): Promise<SeenFile[]> {
  const files: SeenFile[] = [];
  const many = statMany && names.length >= manyFrom ? await statInWorkers(names, { statMany, files }) : names;
  const queue = many.values();
  const worker = async () => {
    for (const raw of queue) {
      const found = await statInside(dir, rawPath(dir, raw), { isHidden, roots });
      if (!found?.stats.isFile()) continue;
      const { dev, ino, size, mtimeNs, ctimeNs, birthtimeNs } = found.stats;
      const stats = new SeenStats(BigInt64Array.of(dev, ino, size, mtimeNs, ctimeNs, birthtimeNs), 0);
      files.push({ name: shownName(raw), size: Number(size), stats, isLink: found.isLink });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_STATS }, worker));
  return files.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/**
 * Raw names only, one character per byte, of the directory or of one `below` it. If types are requested, Node stats each entry itself on file systems that do
 * not report types, and fails altogether if one of them was deleted in the meantime.
 */
export async function readNames(dir: string, below?: string): Promise<string[]> {
  try {
    return await readdir(below === undefined ? dir : rawPath(dir, below), 'latin1');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw dirUnreadable(error);
  }
}

/** Adds the files among many entries; returns the links, which must be followed one by one. */
async function statInWorkers(
  names: readonly string[],
  { statMany, files }: { statMany: NonNullable<ListOptions['statMany']>; files: SeenFile[] },
): Promise<string[]> {
  const links: string[] = [];
  const chunks = Array.from({ length: Math.ceil(names.length / NAMES_PER_JOB) }, (_, chunk) =>
    names.slice(chunk * NAMES_PER_JOB, (chunk + 1) * NAMES_PER_JOB),
  ).values();
  const work = async () => {
    for (const some of chunks) {
      const { kinds, numbers } = await statMany(some).catch(throwIfLost);
      for (const [index, raw] of some.entries()) {
        const kind = kinds[index];
        if (kind === ENTRY_KINDS.denied) throw dirUnreadable(Object.assign(new Error('denied'), { code: 'EACCES' }));
        if (kind === ENTRY_KINDS.link) links.push(raw);
        if (kind !== ENTRY_KINDS.file) continue;
        const stats = new SeenStats(numbers, index * STAT_NUMBERS);
        files.push({ name: shownName(raw), size: Number(stats.size), stats, isLink: false });
      }
    }
  };
  await Promise.all(Array.from({ length: JOBS_AT_ONCE }, work));
  return links;
}

/**
 * Up to `most` names, unordered; the cost does not depend on how many there are. Empty if the directory cannot be read.
 */
export async function readSomeNames(dir: string, most: number): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(dir, { bufferSize: NAMES_AT_ONCE })) {
      names.push(name);
      if (names.length === most) break;
    }
  } catch (error) {
    // The names are only used for suggestions, which can be omitted.
    if (systemCode(error) === undefined) throw error;
  }
  return names;
}

/** The stats of an entry, or `undefined` if it leads out of the directory, nowhere, or was deleted in the meantime. */
async function statInside(
  dir: string,
  path: string | Buffer,
  options: LinkOptions,
): Promise<{ stats: BigIntStats; isLink: boolean } | undefined> {
  try {
    const stats = await statEntry(path);
    if (!stats.isSymbolicLink()) return { stats, isLink: false };
    const target = await statLinkTarget(dir, path, options);
    return target && { stats: target, isLink: true };
  } catch (error) {
    // Only the directory itself can deny access to its entries; that must not look like an empty directory.
    if (systemCode(error) === 'EACCES') throw dirUnreadable(error);
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

type LinkOptions = Required<Pick<ListOptions, 'isHidden' | 'roots'>>;

export async function statLinkTarget(
  dir: string,
  link: string | Buffer,
  { isHidden, roots }: LinkOptions,
): Promise<BigIntStats | undefined> {
  try {
    const target = await realpath(link, 'buffer');
    const homes = await realHomes(dir, { roots });
    if (!isHomeOrWithin(homes, target) || isHidden(nameBelow(homes, target))) return undefined;
    return await stat(target, { bigint: true });
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Without its thread a listing fails like any other that may be tried again. */
function throwIfLost(error: unknown): never {
  throw error instanceof ThreadLost ? dirUnreadable(error) : error;
}

function dirUnreadable(cause: unknown): LogError {
  return new LogError('LOG_DIR_UNREADABLE', `the log directory cannot be read: ${systemCode(cause)}`, { cause });
}
