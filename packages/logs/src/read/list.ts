import type { BigIntStats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntryStats } from '../file/entry-stats.ts';
import { rawPath } from '../file/open-inside.ts';
import { holdsDir, holdsFile, type LogReach, nameBelow, realHomes } from '../file/tree.ts';
import { statEntry } from '../fs-calls.ts';
import { systemCode, ThreadLost } from '../log-error.ts';
import type { LogEntry } from '../types.ts';
import { dirUnreadable, type NameFilter, readSortedNames, type SortedNames } from './dir-names.ts';
import { ENTRY_KINDS, STAT_NUMBERS, type StatResult } from './stat-entries.ts';

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

/**
 * Entries that are read at once on this thread, if their file system is local; and how long that may take before other requests
 * have their turn. A disk that takes longer for these few is left to the pool.
 */
const MAX_AT_ONCE = 64;
const MAX_AT_ONCE_MS = 2;

/** A listed file and its stats. */
export interface SeenFile extends LogEntry {
  stats: SeenStats;
  /** The entry is a link; the other fields describe its target. */
  isLink: boolean;
}

export interface ListOptions extends NameFilter, Partial<LogReach> {
  /** The stats of the entries of the directory. */
  entries?: EntryStats | undefined;
  /** Stats many entries at once, in worker threads; used from `manyFrom` entries on. */
  manyFrom?: number | undefined;
  statMany?: ((names: readonly string[]) => Promise<StatResult>) | undefined;
}

/**
 * Every regular file directly in the directory, and links that stay inside it, sorted by name. A missing directory is
 * empty. A name that is not UTF-8 is shown with U+FFFD for the invalid bytes.
 */
export async function listFiles(dir: string, options: ListOptions = {}): Promise<SeenFile[]> {
  return statFiles(dir, await readSortedNames(dir, options), options);
}

/** The entries that are files, in the order of their names. */
export async function statFiles(
  dir: string,
  names: SortedNames,
  { isHidden = () => false, roots = [], own, entries, statMany, manyFrom = MIN_MANY }: Omit<ListOptions, 'wanted'>,
): Promise<SeenFile[]> {
  const { shown, raw } = names;
  const files: (SeenFile | undefined)[] = new Array(raw.length).fill(undefined);
  const isMany = statMany && raw.length >= manyFrom;
  const queue = isMany
    ? (await statInWorkers(names, { statMany, files })).values()
    : entries?.isLocal
      ? (await statInTurns(dir, names, { entries, files })).values()
      : raw.keys();
  const worker = async () => {
    for (const index of queue) {
      const found = await statInside(dir, rawPath(dir, raw[index] ?? ''), { isHidden, roots, own });
      if (!found?.stats.isFile()) continue;
      files[index] = toSeenFile(shown[index] ?? '', found.stats, found.isLink);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_STATS }, worker));
  return files.filter((file) => file !== undefined);
}

/** The same for a few entries of a local file system, on this thread; `undefined` if that does not find them all. */
export function statFilesNow(dir: string, names: SortedNames, entries: EntryStats): SeenFile[] | undefined {
  if (names.raw.length > MAX_AT_ONCE) return undefined;
  const files: (SeenFile | undefined)[] = new Array(names.raw.length).fill(undefined);
  const left: number[] = [];
  if (statAtOnce(dir, names, { entries, files, left, from: 0 }) < files.length || left.length > 0) return undefined;
  return files.filter((file) => file !== undefined);
}

function toSeenFile(name: string, found: BigIntStats, isLink: boolean): SeenFile {
  const { dev, ino, size, mtimeNs, ctimeNs, birthtimeNs } = found;
  const stats = new SeenStats(BigInt64Array.of(dev, ino, size, mtimeNs, ctimeNs, birthtimeNs), 0);
  return { name, size: Number(size), stats, isLink };
}

interface StatTurn {
  entries: EntryStats;
  files: (SeenFile | undefined)[];
  /** The positions of links, which must be followed, are added to it. */
  left: number[];
  from: number;
}

/** Enters the files among the entries of a local file system, a part of them in each turn. Returns the positions of the others. */
async function statInTurns(
  dir: string,
  names: SortedNames,
  { entries, files }: Pick<StatTurn, 'entries' | 'files'>,
): Promise<number[]> {
  const { raw } = names;
  const left: number[] = [];
  let from = 0;
  while (from < raw.length) {
    const to = statAtOnce(dir, names, { entries, files, left, from });
    const isSlow = to < raw.length && to - from < MAX_AT_ONCE;
    if (isSlow) return left.concat(Array.from({ length: raw.length - to }, (_, index) => to + index));
    if (to < raw.length) await nextTurn();
    from = to;
  }
  return left;
}

/** Enters the files among the entries from one on, as many as there is time for. Returns where it stopped. */
function statAtOnce(dir: string, { shown, raw }: SortedNames, { entries, files, left, from }: StatTurn): number {
  const endMs = performance.now() + MAX_AT_ONCE_MS;
  for (let index = from; index < raw.length; index++) {
    if (performance.now() > endMs) return index;
    try {
      const stats = entries.statNow(rawPath(dir, raw[index] ?? ''));
      if (stats.isFile()) files[index] = toSeenFile(shown[index] ?? '', stats, false);
      else if (stats.isSymbolicLink()) left.push(index);
    } catch (error) {
      skipOrThrow(error);
    }
  }
  return raw.length;
}

/** Enters the files among many entries; returns the positions of the links, which must be followed one by one. */
async function statInWorkers(
  { shown, raw }: SortedNames,
  { statMany, files }: { statMany: NonNullable<ListOptions['statMany']>; files: (SeenFile | undefined)[] },
): Promise<number[]> {
  const links: number[] = [];
  let started = 0;
  const work = async () => {
    while (started < raw.length) {
      const first = started;
      started += NAMES_PER_JOB;
      const { kinds, numbers } = await statMany(raw.slice(first, first + NAMES_PER_JOB)).catch(throwIfLost);
      for (const [offset, kind] of kinds.entries()) {
        if (kind === ENTRY_KINDS.denied) throw dirUnreadable(Object.assign(new Error('denied'), { code: 'EACCES' }));
        if (kind === ENTRY_KINDS.link) links.push(first + offset);
        if (kind !== ENTRY_KINDS.file) continue;
        const stats = new SeenStats(numbers, offset * STAT_NUMBERS);
        files[first + offset] = { name: shown[first + offset] ?? '', size: Number(stats.size), stats, isLink: false };
      }
    }
  };
  await Promise.all(Array.from({ length: JOBS_AT_ONCE }, work));
  return links;
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
    skipOrThrow(error);
    return undefined;
  }
}

/** An entry may be gone by now. Only the directory itself can deny access to it: that must not look like an empty one. */
function skipOrThrow(error: unknown): void {
  if (systemCode(error) === 'EACCES') throw dirUnreadable(error);
  if (systemCode(error) === undefined) throw error;
}

interface LinkOptions extends LogReach {
  isHidden(name: string): boolean;
}

export async function statLinkTarget(
  dir: string,
  link: string | Buffer,
  { isHidden, ...reach }: LinkOptions,
): Promise<BigIntStats | undefined> {
  try {
    const target = await realpath(link, 'buffer');
    const homes = await realHomes(dir, reach);
    if (!holdsDir(homes, target) || isHidden(nameBelow(homes, target))) return undefined;
    const stats = await stat(target, { bigint: true });
    return stats.isDirectory() || holdsFile(homes, target) ? stats : undefined;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Without its thread a listing fails like any other that may be tried again. */
function throwIfLost(error: unknown): never {
  throw error instanceof ThreadLost ? dirUnreadable(error) : error;
}

/** The numbers that change with every change of a file: all but the birth time, which is last. */
const STAMP_NUMBERS = 5;

/**
 * The stats of a file, read from a shared array of numbers: a `BigIntStats` for each of 100,000 takes a kilobyte, and
 * even six `bigint`s take 200 bytes.
 */
export class SeenStats {
  readonly #numbers: BigInt64Array;
  readonly #first: number;

  /** `numbers` has `STAT_NUMBERS` for each file, those of this one at `first`. */
  constructor(numbers: BigInt64Array, first: number) {
    this.#numbers = numbers;
    this.#first = first;
  }

  get dev(): bigint {
    return this.#at(0);
  }

  get ino(): bigint {
    return this.#at(1);
  }

  get size(): bigint {
    return this.#at(2);
  }

  get mtimeNs(): bigint {
    return this.#at(3);
  }

  get ctimeNs(): bigint {
    return this.#at(4);
  }

  get birthtimeNs(): bigint {
    return this.#at(5);
  }

  /** Whether the file has not changed, as far as its stats show it (see `isSettled`). */
  hasSameStamp(other: SeenStats): boolean {
    for (let number = 0; number < STAMP_NUMBERS; number++) {
      if (this.#at(number) !== other.#at(number)) return false;
    }
    return true;
  }

  #at(number: number): bigint {
    return this.#numbers[this.#first + number] ?? 0n;
  }
}

/**
 * Links of a listing that lead to another file of it, with the name of that file. Such a link is the same log:
 * `current` beside `app.log`.
 */
export function findLinkTargets(files: readonly SeenFile[]): ReadonlyMap<string, string> {
  const links = files.filter(({ isLink }) => isLink);
  const targets = new Map<string, string>();
  if (links.length === 0) return targets;
  // By number, not by name: a link may lead to its target through others.
  const numbers = new Set(links.map(({ stats }) => stats.ino));
  const linked = files.filter(({ isLink, stats }) => !isLink && numbers.has(stats.ino));
  for (const { name, stats } of links) {
    const target = linked.find((file) => file.stats.ino === stats.ino && file.stats.dev === stats.dev);
    if (target) targets.set(name, target.name);
  }
  return targets;
}

/**
 * The families of a listing without those that consist of nothing but links to others. A link that is known by its name
 * to belong to a family, as glog's, stays in it.
 */
export function withoutLinkedFamilies<T extends { files: readonly string[] }>(
  families: readonly T[],
  listed: readonly SeenFile[],
): readonly T[] {
  const targets = findLinkTargets(listed);
  if (targets.size === 0) return families;
  return families.filter(({ files }) => files.length === 0 || files.some((name) => !targets.has(name)));
}
