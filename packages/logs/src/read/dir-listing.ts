import { EntryStats } from '../file/entry-stats.ts';
import { groupFamilies, groupRotatedFamilies } from '../file/families.ts';
import { GatheredLookup, SharedLookup } from '../file/shared-lookup.ts';
import { findMount, type LogMount, type LogTree } from '../file/tree.ts';
import { LogError } from '../log-error.ts';
import { MAX_COMPARED_NAMES, nearestNames } from '../nearest-names.ts';
import { KEPT, Shared } from '../shared.ts';
import type { FileProblem, LogFileDetails } from '../types.ts';
import { DirNames, findName, readSomeNames, type SortedNames } from './dir-names.ts';
import { type ListOptions, listFiles, type SeenFile, statFiles, statFilesNow } from './list.ts';

interface DirListingOptions {
  isHidden(name: string): boolean;
  tree: LogTree;
  statMany: NonNullable<ListOptions['statMany']>;
}

/** Lists the files of a directory. Concurrent listings share one. */
export class DirListing {
  readonly #path: string;
  readonly #options: DirListingOptions;
  readonly #files: SharedLookup<SeenFile[]>;
  readonly #filesNow: GatheredLookup<SeenFile[]>;
  readonly #names: DirNames;
  readonly #entries: EntryStats;
  readonly families = new KeptFamilies();
  /** The names that listings were made of, where the names alone decide which files there are. */
  readonly #namesOf = new WeakMap<readonly SeenFile[], SortedNames>();
  /** What the last listing of other directories could not list. */
  problems: readonly FileProblem[] = [];

  constructor(path: string, options: DirListingOptions) {
    this.#path = path;
    this.#options = options;
    this.#entries = new EntryStats(path);
    this.#files = new SharedLookup(() => this.#list());
    this.#filesNow = new GatheredLookup(() => this.#listNow() ?? this.#files.get(''));
    this.#names = new DirNames(path, { isHidden: options.isHidden }, this.#entries);
  }

  all(): Promise<SeenFile[]> {
    return this.#entries.isLocal ? this.#filesNow.get('') : this.#files.get('');
  }

  /** Whether a listing would have the same files again, of whatever sizes: certainly no entry has changed since this one. */
  isCurrent(files: readonly SeenFile[]): boolean {
    const names = this.#namesOf.get(files);
    return names !== undefined && names === this.#names.getNow();
  }

  /** At least the files of one log. */
  async ofFamily(family: string): Promise<SeenFile[]> {
    const { tree } = this.#options;
    if (tree.depth > 0 || findMount(tree, family)) return this.all();
    const names = await this.#names.get();
    const grouped = await this.families.of(names.shown);
    return (await listFamily(this.#path, family, { names, grouped }, this.#listOptions)) ?? this.all();
  }

  /** Names of files that are spelt nearly like this. */
  async findSimilar(name: string): Promise<string[]> {
    const seen = await readSomeNames(this.#path, MAX_COMPARED_NAMES + 1);
    const near = nearestNames(
      name,
      seen.filter((candidate) => !this.#options.isHidden(candidate)),
    );
    const files = near.length > 0 ? await this.#listSome((candidate) => near.includes(candidate)) : [];
    return near.filter((candidate) => files.some((file) => file.name === candidate));
  }

  get #listOptions(): ListOptions {
    const { isHidden, tree } = this.#options;
    return { isHidden, roots: tree.roots, own: tree.own };
  }

  /** A few files of a directory that has not changed. */
  #listNow(): SeenFile[] | undefined {
    const { depth, mounts = [] } = this.#options.tree;
    const names = depth === 0 && mounts.length === 0 ? this.#names.getNow() : undefined;
    const files = names && statFilesNow(this.#path, names, this.#entries);
    if (files) this.#namesOf.set(files, names);
    return files;
  }

  async #list(): Promise<SeenFile[]> {
    const { isHidden, tree, statMany } = this.#options;
    const options = { ...this.#listOptions, entries: this.#entries, statMany };
    const names = await this.#names.get();
    const flat = await statFiles(this.#path, names, options);
    const { mounts = [] } = tree;
    if (tree.depth === 0 && mounts.length === 0) {
      // What a link leads to may change without it.
      if (!flat.some(({ isLink }) => isLink)) this.#namesOf.set(flat, names);
      return flat;
    }
    const problems: FileProblem[] = [];
    const listed = [flat];
    if (tree.depth > 0) {
      const { listTree } = await import('./list-tree.ts');
      // A mount takes the place of a directory with its name.
      const isCovered = (name: string) => mounts.some((mount) => `${name}/`.startsWith(`${mount.name}/`));
      const below = await listTree(this.#path, { tree, isHidden: (name) => isCovered(name) || isHidden(name) });
      listed.push(below.files);
      problems.push(...below.problems);
    }
    for (const mount of mounts) listed.push(await this.#listMount(mount, problems));
    this.problems = problems;
    return listed.flat().sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }

  /** The files of a mount by their names here. That it cannot be read is a problem of its logs, not of the others. */
  async #listMount({ name, path }: LogMount, problems: FileProblem[]): Promise<SeenFile[]> {
    const shown = (file: string) => `${name}/${file}`;
    try {
      const files = await listFiles(path, { isHidden: (file) => this.#options.isHidden(shown(file)) });
      return files.map((file) => ({ ...file, name: shown(file.name) }));
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      problems.push({ file: name, code: error.code, detail: error.message });
      return [];
    }
  }

  async #listSome(wanted: (name: string) => boolean): Promise<SeenFile[]> {
    try {
      return await listFiles(this.#path, { ...this.#listOptions, wanted });
    } catch (error) {
      // The caller reports why the file cannot be opened; a hint is optional.
      if (error instanceof LogError) return [];
      throw error;
    }
  }
}

/** The names in a directory, and the logs derived from them alone. */
interface ListedNames {
  names: SortedNames;
  grouped: RotatedFamilies;
}

/**
 * The files of one log: only the names of other files are read. A file deleted in the meantime is left out, as in a
 * full listing. `undefined` if the names alone do not determine the files of the log, because some entries are not
 * files.
 */
async function listFamily(
  dir: string,
  family: string,
  { names, grouped }: ListedNames,
  options: ListOptions = {},
): Promise<SeenFile[] | undefined> {
  const { families, memberships } = grouped;
  // A log that is nothing but a live file has its name.
  const members = families.get(family) ?? (memberships.has(family) ? [] : [family]);
  const positions = members.map((name) => findName(names.shown, name, String)).filter((position) => position >= 0);
  positions.sort((a, b) => a - b);
  const pick = (all: readonly string[]) => positions.map((position) => all[position] ?? '');
  const files = await statFiles(dir, { shown: pick(names.shown), raw: pick(names.raw) }, options);
  const found = groupFamilies(files.map(({ name }) => name));
  return found.length === 1 && found[0]?.name === family ? files : undefined;
}

/** Fewer names are grouped in less than a millisecond. */
const MIN_KEPT = 1000;

type Membership = Pick<LogFileDetails, 'family' | 'state'>;

/** Logs that are more than a live file. The others are most of 100,000 files, and each has the name of its file. */
export interface RotatedFamilies {
  /** The names of the files of each, oldest first. */
  families: ReadonlyMap<string, readonly string[]>;
  /** By the name of the file. */
  memberships: ReadonlyMap<string, Membership>;
}

/** Groups the names of a directory into families. Those of many names are kept for as long as the names are the same. */
export class KeptFamilies {
  #last: { names: readonly string[]; families: Shared<RotatedFamilies> } | undefined;

  of(names: readonly string[]): Promise<RotatedFamilies> {
    const last = this.#last && haveSameNames(this.#last.names, names) ? this.#last : undefined;
    const families = last?.families ?? new Shared<RotatedFamilies>(KEPT);
    if (!last) this.#last = names.length >= MIN_KEPT ? { names, families } : undefined;
    return families.run(() => groupNames(names));
  }
}

async function groupNames(names: readonly string[]): Promise<RotatedFamilies> {
  const families = new Map<string, readonly string[]>();
  const memberships = new Map<string, Membership>();
  for (const { name: family, files } of await groupRotatedFamilies(names)) {
    const membership = { live: { family, state: 'live' }, rotated: { family, state: 'rotated' } } as const;
    for (const { name, state } of files) memberships.set(name, membership[state]);
    families.set(
      family,
      files.map(({ name }) => name),
    );
  }
  return { families, memberships };
}

/** Both in the same order, as listings are. */
function haveSameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}
