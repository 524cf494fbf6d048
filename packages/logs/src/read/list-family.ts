import { groupFamilies } from '../file/families.ts';
import { findName, type SortedNames } from './dir-names.ts';
import type { RotatedFamilies } from './kept-families.ts';
import { type ListOptions, type SeenFile, statFiles } from './list.ts';

/** The names in a directory, and the logs derived from them alone. */
export interface ListedNames {
  names: SortedNames;
  grouped: RotatedFamilies;
}

/**
 * The files of one log: only the names of other files are read. A file deleted in the meantime is left out, as in a
 * full listing. `undefined` if the names alone do not determine the files of the log, because some entries are not
 * files.
 */
export async function listFamily(
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
