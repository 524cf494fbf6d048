import { EntryStats } from '../file/entry-stats.ts';
import { GatheredLookup } from '../file/shared/gathered-lookup.ts';
import { SharedLookup } from '../file/shared/shared-lookup.ts';
import { findMount, type LogMount, type LogTree } from '../file/tree.ts';
import { LogError } from '../log-error.ts';
import { MAX_COMPARED_NAMES, nearestNames } from '../nearest-names.ts';
import type { FileProblem } from '../types.ts';
import { DirNames, readSomeNames } from './dir-names.ts';
import { KeptFamilies } from './kept-families.ts';
import { type ListOptions, listFiles, type SeenFile, statFiles, statFilesNow } from './list.ts';

export interface DirListingOptions {
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

  /** At least the files of one log. */
  async ofFamily(family: string): Promise<SeenFile[]> {
    const { tree } = this.#options;
    if (tree.depth > 0 || findMount(tree, family)) return this.all();
    const names = await this.#names.get();
    const grouped = await this.families.of(names.shown);
    const { listFamily } = await import('./list-family.ts');
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
    return names && statFilesNow(this.#path, names, this.#entries);
  }

  async #list(): Promise<SeenFile[]> {
    const { isHidden, tree, statMany } = this.#options;
    const options = { ...this.#listOptions, entries: this.#entries, statMany };
    const flat = await statFiles(this.#path, await this.#names.get(), options);
    const { mounts = [] } = tree;
    if (tree.depth === 0 && mounts.length === 0) return flat;
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
