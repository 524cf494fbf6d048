import { setImmediate as nextTurn } from 'node:timers/promises';
import { groupFamilies, groupManyFamilies } from '../file/families.ts';
import { shownName } from '../file/find-entry.ts';
import { type ListOptions, NAMES_PER_TURN, readNames, type SeenFile, statFiles } from './list.ts';

/** The logs of a directory, derived from the names of its entries alone. */
export interface ListedNames {
  /** The file names of each log. */
  families: ReadonlyMap<string, readonly string[]>;
  /** Raw names, by the name shown. */
  raw: ReadonlyMap<string, string>;
}

export async function listNames(dir: string, { isHidden = () => false }: ListOptions = {}): Promise<ListedNames> {
  const raw = new Map<string, string>();
  for (const [index, bytes] of (await readNames(dir)).entries()) {
    const name = shownName(bytes);
    if (!isHidden(name)) raw.set(name, bytes);
    if (index % NAMES_PER_TURN === NAMES_PER_TURN - 1) await nextTurn();
  }
  const families = await groupManyFamilies([...raw.keys()]);
  return { families: new Map(families.map(({ name, files }) => [name, files.map((file) => file.name)])), raw };
}

/**
 * The files of one log: only the names of other files are read. A file deleted in the meantime is left out, as in a
 * full listing. `undefined` if the names alone do not determine the files of the log, because some entries are not
 * files.
 */
export async function listFamily(
  dir: string,
  family: string,
  { families, raw }: ListedNames,
  options: ListOptions = {},
): Promise<SeenFile[] | undefined> {
  const names = families.get(family) ?? [];
  const files = await statFiles(
    dir,
    names.flatMap((name) => raw.get(name) ?? []),
    options,
  );
  const found = groupFamilies(files.map(({ name }) => name));
  return found.length === 1 && found[0]?.name === family ? files : undefined;
}
