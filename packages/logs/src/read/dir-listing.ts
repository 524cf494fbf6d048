import { SharedLookup } from '../file/shared-lookup.ts';
import type { LogTree } from '../file/tree.ts';
import { LogError } from '../log-error.ts';
import { MAX_COMPARED_NAMES, nearestNames } from '../nearest-names.ts';
import type { FileProblem } from '../types.ts';
import { type ListOptions, listFiles, readSomeNames, type SeenFile } from './list.ts';
import type { ListedNames } from './list-family.ts';

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
  readonly #names: SharedLookup<ListedNames>;
  /** What the last listing of the directories below could not list. */
  problems: readonly FileProblem[] = [];

  constructor(path: string, options: DirListingOptions) {
    this.#path = path;
    this.#options = options;
    this.#files = new SharedLookup(() => this.#list());
    this.#names = new SharedLookup(async () => {
      const { listNames } = await import('./list-family.ts');
      return listNames(path, { isHidden: options.isHidden });
    });
  }

  all(): Promise<SeenFile[]> {
    return this.#files.get('');
  }

  /** At least the files of one log. */
  async ofFamily(family: string): Promise<SeenFile[]> {
    if (this.#options.tree.depth > 0) return this.all();
    const names = await this.#names.get('');
    const { listFamily } = await import('./list-family.ts');
    return (await listFamily(this.#path, family, names, this.#listOptions)) ?? this.all();
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
    return { isHidden, roots: tree.roots };
  }

  async #list(): Promise<SeenFile[]> {
    const { isHidden, tree, statMany } = this.#options;
    const flat = await listFiles(this.#path, { ...this.#listOptions, statMany });
    if (tree.depth === 0) return flat;
    const { listTree } = await import('./list-tree.ts');
    const { files, problems } = await listTree(this.#path, { tree, isHidden });
    this.problems = problems;
    return [...flat, ...files].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
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
