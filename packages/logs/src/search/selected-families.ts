import { groupFamilies } from '../file/families.ts';
import { familyNotFound } from '../file/family-not-found.ts';
import type { SeenFile } from '../read/list.ts';
import type { FileProblem, LogSelection } from '../types.ts';

/** Each holds a descriptor while it is asked. */
const MAX_OPEN_FILES = 1000;

export interface FamilyNames {
  name: string;
  files: string[];
}

/** The families of a listing that are selected; throws where there is none of the name. */
export function familiesIn(seen: readonly SeenFile[], { family: wanted }: LogSelection): FamilyNames[] {
  const families = groupFamilies(seen.map(({ name }) => name)).map(({ name, files }) => ({
    name,
    files: files.map((file) => file.name),
  }));
  if (wanted === undefined) return families;
  const found = families.filter(({ name }) => name === wanted);
  if (found.length === 0)
    throw familyNotFound(
      wanted,
      families.map(({ name }) => name),
    );
  return found;
}

/** Which files the names of a family, or of all, lead to. */
export function namesIn(seen: readonly SeenFile[], family: string | undefined): string {
  const names = family && groupFamilies(seen.map(({ name }) => name)).find(({ name }) => name === family)?.files;
  const wanted = names && new Set(names.map(({ name }) => name));
  return seen
    .flatMap(({ name, stats }) => (!wanted || wanted.has(name) ? `${name}=${stats.dev}:${stats.ino}` : []))
    .join('/');
}

/** Whole families, as many as may be open at a time. */
export function withinLimit(families: FamilyNames[]): { within: FamilyNames[]; problem: FileProblem | undefined } {
  let files = 0;
  const within = families.filter((family, index) => {
    files += family.files.length;
    return files <= MAX_OPEN_FILES || index === 0;
  });
  const left = families.length - within.length;
  if (left === 0) return { within, problem: undefined };
  const first = families.find((family) => !within.includes(family))?.name ?? '';
  const detail = `${left} families were left out: at most ${MAX_OPEN_FILES} files are searched at once; ask by family`;
  return { within, problem: { file: first, code: 'TOO_MANY_FILES', detail } };
}
