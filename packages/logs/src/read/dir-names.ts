import { opendir, readdir, statfs } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EntryStats, LOCAL_FILE_SYSTEMS } from '../file/entry-stats.ts';
import { DirStamp } from '../file/file-stamp.ts';
import { rawPath, shownName } from '../file/open-inside.ts';
import { SharedLookup } from '../file/shared-lookup.ts';
import { LogError, systemCode } from '../log-error.ts';

/** Names processed before yielding. */
const NAMES_PER_TURN = 2000;

/** Names read with one call if only a few are needed. */
const NAMES_AT_ONCE = 256;

/** Names in a directory, sorted as they are shown (code units). */
export interface SortedNames {
  /** With U+FFFD for bytes that are not UTF-8. */
  shown: readonly string[];
  /** One character per byte. */
  raw: readonly string[];
}

export interface NameFilter {
  /** Files with such names, and links to them, are treated as missing. */
  isHidden?(name: string): boolean;
  /** Filters names before they are examined. */
  wanted?(name: string): boolean;
}

/** The names in a directory. They are kept until the times of the directory show that they may have changed. */
export class DirNames {
  readonly #dir: string;
  readonly #filter: NameFilter;
  readonly #entries: EntryStats | undefined;
  readonly #names: SharedLookup<SortedNames>;
  #kept: { stamp: DirStamp; names: SortedNames } | undefined;

  constructor(dir: string, filter: NameFilter = {}, entries?: EntryStats) {
    this.#dir = dir;
    this.#filter = filter;
    this.#entries = entries;
    this.#names = new SharedLookup(() => this.#find());
  }

  /** The kept names, if they are certainly those on disk and that can be found out on this thread. */
  getNow(): SortedNames | undefined {
    const kept = this.#kept;
    return kept && this.#entries?.isLocal && kept.stamp.isSameNow() ? kept.names : undefined;
  }

  get(): Promise<SortedNames> {
    return this.#names.get('');
  }

  async #find(): Promise<SortedNames> {
    const kept = this.#kept;
    if (kept && (await kept.stamp.isSame())) return kept.names;
    // Taken before the names are read: a change meanwhile makes it another stamp.
    const stamp = await DirStamp.take(this.#dir);
    const names = await readSortedNames(this.#dir, this.#filter);
    const isKept = stamp.isCertain && (await isDated(this.#dir));
    this.#kept = isKept ? { stamp, names } : undefined;
    return names;
  }
}

/** Some or all names in a directory; none if it is missing. */
export async function readSortedNames(
  dir: string,
  { wanted = () => true, isHidden = () => false }: NameFilter,
): Promise<SortedNames> {
  const shown: string[] = [];
  const raw: string[] = [];
  let isSorted = true;
  for (const [index, bytes] of (await readNames(dir)).entries()) {
    const name = shownName(bytes);
    if (wanted(name) && !isHidden(name)) {
      isSorted &&= (shown.at(-1) ?? '') <= name;
      shown.push(name);
      raw.push(bytes);
    }
    // Testing for hidden names takes several regexes for each name.
    if (index % NAMES_PER_TURN === NAMES_PER_TURN - 1) await nextTurn();
  }
  return isSorted ? { shown, raw } : sortNames({ shown, raw });
}

/** The system sorts them by their bytes, which is another order for few names only. */
function sortNames({ shown, raw }: SortedNames): SortedNames {
  const pairs = raw.map((bytes, index) => ({ bytes, name: shown[index] ?? '' }));
  pairs.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return { shown: pairs.map(({ name }) => name), raw: pairs.map(({ bytes }) => bytes) };
}

/** The position of a name in a sorted list, of the last one if several are shown alike; -1 if it is not there. */
export function findName<T>(sorted: readonly T[], name: string, nameOf: (item: T) => string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (nameOf(sorted[middle] as T) <= name) low = middle + 1;
    else high = middle;
  }
  return low > 0 && nameOf(sorted[low - 1] as T) === name ? low - 1 : -1;
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

async function isDated(dir: string): Promise<boolean> {
  try {
    return LOCAL_FILE_SYSTEMS.has((await statfs(dir)).type);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

export function dirUnreadable(cause: unknown): LogError {
  return new LogError('LOG_DIR_UNREADABLE', `the log directory cannot be read: ${systemCode(cause)}`, { cause });
}
