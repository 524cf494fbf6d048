import { KEPT, Shared } from '../shared.ts';
import type { LogFileDetails } from '../types.ts';

/** Fewer names are grouped in less than a millisecond. */
const MIN_KEPT = 1000;

export type Membership = Pick<LogFileDetails, 'family' | 'state'>;

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
  const { groupRotatedFamilies } = await import('../file/families.ts');
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
