import { groupFamilies } from '../file/families.ts';
import { type ListOptions, readNames, type SeenFile, statFiles } from './list.ts';

/** The logs of a directory by the names of its entries alone. */
export interface ListedNames {
  /** The names of the files of each log. */
  families: ReadonlyMap<string, readonly string[]>;
  /** As they stand in the directory. */
  bytes: ReadonlyMap<string, Buffer>;
}

export async function listNames(dir: string, { isHidden = () => false }: ListOptions = {}): Promise<ListedNames> {
  const all = (await readNames(dir)).map((bytes) => [bytes.toString(), bytes] as const);
  const bytes = new Map(all.filter(([name]) => !isHidden(name)));
  const families = new Map(
    groupFamilies([...bytes.keys()]).map(({ name, files }) => [name, files.map((file) => file.name)]),
  );
  return { families, bytes };
}

/**
 * The files of one log: of the others only the names are read. One that has gone meanwhile is left out, as in a listing
 * of all. `undefined` where the names alone do not tell which files are of the log, because some are no files.
 */
export async function listFamily(
  dir: string,
  family: string,
  { families, bytes }: ListedNames,
  options: ListOptions = {},
): Promise<SeenFile[] | undefined> {
  const names = families.get(family) ?? [];
  const files = await statFiles(
    dir,
    names.flatMap((name) => bytes.get(name) ?? []),
    options,
  );
  const found = groupFamilies(files.map(({ name }) => name));
  return found.length === 1 && found[0]?.name === family ? files : undefined;
}
