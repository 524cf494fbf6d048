import type { BigIntStats } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { rawPath, shownName } from '../file/open-inside.ts';
import { type Homes, holdsDir, isOwnDir, type LogTree, realHomes } from '../file/tree.ts';
import { statEntry } from '../fs-calls.ts';
import { LogError, systemCode } from '../log-error.ts';
import type { FileProblem } from '../types.ts';
import { readNames } from './dir-names.ts';
import { type SeenFile, SeenStats, statLinkTarget } from './list.ts';

/** Entries examined at the same time. */
const PARALLEL_STATS = 16;

export interface ListTreeOptions {
  tree: LogTree;
  isHidden(name: string): boolean;
}

export interface ListedTree {
  /** Sorted by name, which is the path below the directory. */
  files: SeenFile[];
  /** Directories that could not be read, and those left out because there are too many entries. */
  problems: FileProblem[];
}

/**
 * The files in the directories below a directory. A link is followed if it leads to where files may be; a directory
 * that several names lead to is listed by the first of them, which also ends cycles. Names that are not UTF-8 are left
 * out: they could not be opened by name.
 */
export async function listTree(dir: string, options: ListTreeOptions): Promise<ListedTree> {
  const walk = new TreeWalk(dir, options);
  await walk.run();
  const files = walk.files.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return { files, problems: walk.problems };
}

interface Entry {
  /** Path below the directory, one character per byte. */
  raw: string;
  stats: BigIntStats;
  isLink: boolean;
}

class TreeWalk {
  readonly files: SeenFile[] = [];
  readonly problems: FileProblem[] = [];
  readonly #dir: string;
  readonly #options: ListTreeOptions;
  readonly #visited = new Set<string>();
  #homes: Homes = { paths: [], own: undefined };
  #left: number;

  constructor(dir: string, options: ListTreeOptions) {
    this.#dir = dir;
    this.#options = options;
    this.#left = options.tree.maxEntries;
  }

  async run(): Promise<void> {
    const { depth } = this.#options.tree;
    const names = await readNames(this.#dir);
    if (names.length === 0) return;
    this.#homes = await realHomes(this.#dir, this.#options.tree);
    this.#visited.add(fileId(await statEntry(this.#homes.paths[0] ?? this.#dir)));
    let level = await this.#directories(await this.#stat(names));
    for (let at = 1; at <= depth && level.length > 0; at++) {
      const next: Entry[] = [];
      for (const directory of level) next.push(...(await this.#list(directory)));
      level = next;
    }
  }

  /** Notes the files of a directory. Returns the directories in it. */
  async #list({ raw }: Entry): Promise<Entry[]> {
    const shown = shownName(raw);
    if (this.#left <= 0) return [];
    try {
      const names = (await readNames(this.#dir, raw)).sort();
      const entries = await this.#stat(names.slice(0, this.#left).map((name) => `${raw}/${name}`));
      // It may have been replaced by a link meanwhile, and the entries be those of a directory elsewhere.
      const real = await realpath(rawPath(this.#dir, raw), 'buffer');
      if (!holdsDir(this.#homes, real)) return [];
      this.#left -= names.length;
      if (this.#left < 0) this.#reportLimit(shown);
      if (!isOwnDir(this.#homes.own, real))
        for (const entry of entries) if (entry.stats.isFile()) this.files.push(toSeenFile(entry));
      return await this.#directories(entries);
    } catch (error) {
      const code = error instanceof LogError ? systemCode(error.cause) : systemCode(error);
      if (code === undefined) throw error;
      const isGone = code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP';
      const detail = `the directory ${JSON.stringify(shown)} cannot be read: ${code}`;
      if (!isGone) this.problems.push({ file: shown, code: 'LOG_DIR_UNREADABLE', detail });
      return [];
    }
  }

  /** Real directories come first: a link to one of them is the same directory. */
  async #directories(entries: readonly Entry[]): Promise<Entry[]> {
    const found = entries.filter(({ stats }) => stats.isDirectory());
    return found
      .sort((a, b) => Number(a.isLink) - Number(b.isLink))
      .filter(({ stats }) => {
        const id = fileId(stats);
        if (this.#visited.has(id)) return false;
        this.#visited.add(id);
        return true;
      });
  }

  /** The entries that may be shown; links as what they lead to. */
  async #stat(paths: readonly string[]): Promise<Entry[]> {
    const entries: Entry[] = [];
    const queue = paths.values();
    const work = async () => {
      for (const raw of queue) {
        const entry = await this.#statOne(raw);
        if (entry) entries.push(entry);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_STATS }, work));
    return entries.sort((a, b) => (a.raw < b.raw ? -1 : 1));
  }

  async #statOne(raw: string): Promise<Entry | undefined> {
    const { isHidden, tree } = this.#options;
    const name = shownName(raw);
    if (name.includes('\uFFFD') || name.includes('\\') || isHidden(name)) return undefined;
    const path = rawPath(this.#dir, raw);
    try {
      const stats = await statEntry(path);
      if (!stats.isSymbolicLink()) return { raw, stats, isLink: false };
      const target = await statLinkTarget(this.#dir, path, { isHidden, roots: tree.roots, own: tree.own });
      return target && { raw, stats: target, isLink: true };
    } catch (error) {
      // Deleted meanwhile, or its directory was.
      if (systemCode(error) === undefined) throw error;
      return undefined;
    }
  }

  #reportLimit(shown: string): void {
    const { maxEntries } = this.#options.tree;
    const detail = `only ${maxEntries} entries of directories are listed (log.recursive-files), not all from ${JSON.stringify(shown)} on`;
    this.problems.push({ file: shown, code: 'TOO_MANY_FILES', detail });
  }
}

function fileId({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

function toSeenFile({ raw, stats, isLink }: Entry): SeenFile {
  const { dev, ino, size, mtimeNs, ctimeNs, birthtimeNs } = stats;
  const numbers = BigInt64Array.of(dev, ino, size, mtimeNs, ctimeNs, birthtimeNs);
  return { name: shownName(raw), size: Number(size), stats: new SeenStats(numbers, 0), isLink };
}
