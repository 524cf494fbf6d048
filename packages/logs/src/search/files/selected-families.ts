import { groupManyFamilies } from '../../file/families.ts';
import { familyNotFound } from '../../file/family-not-found.ts';
import type { SeenFile } from '../../read/list.ts';
import type { FileProblem, LogSelection } from '../../types.ts';

/** Each holds a descriptor during the query. */
const MAX_OPEN_FILES = 1000;

export interface FamilyNames {
  name: string;
  files: string[];
}

/** The families of a listing that are selected; throws if there is none with the name. */
export async function selectFamilies(
  seen: readonly SeenFile[],
  { family: wanted }: LogSelection,
): Promise<readonly FamilyNames[]> {
  const families = (await groupManyFamilies(seen.map(({ name }) => name))).map(({ name, files }) => ({
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

/** Whether the names of a family, or of all, refer to the same files in two listings. */
export async function haveSameFiles(
  before: readonly SeenFile[],
  after: readonly SeenFile[],
  family: string | undefined,
): Promise<boolean> {
  const [first, second] = [await familyFiles(before, family), await familyFiles(after, family)];
  return first.length === second.length && first.every((file, index) => isSameFile(file, second[index]));
}

async function familyFiles(seen: readonly SeenFile[], family: string | undefined): Promise<readonly SeenFile[]> {
  if (family === undefined) return seen;
  const families = await groupManyFamilies(seen.map(({ name }) => name));
  const members = families.find(({ name }) => name === family)?.files;
  // If the family has no files, all of them decide.
  if (!members) return seen;
  const names = new Set(members.map(({ name }) => name));
  return seen.filter(({ name }) => names.has(name));
}

function isSameFile(a: SeenFile, b: SeenFile | undefined): boolean {
  return a.name === b?.name && a.stats.dev === b.stats.dev && a.stats.ino === b.stats.ino;
}

/** Whole families, as many as may be open at a time. */
export function withinLimit(families: readonly FamilyNames[]): {
  within: readonly FamilyNames[];
  problem: FileProblem | undefined;
} {
  let files = 0;
  const firstOut = families.findIndex((family, index) => {
    files += family.files.length;
    return files > MAX_OPEN_FILES && index > 0;
  });
  if (firstOut < 0) return { within: families, problem: undefined };
  const within = families.slice(0, firstOut);
  const left = families.length - within.length;
  const first = families[firstOut]?.name ?? '';
  const detail = `${left} log families were skipped: at most ${MAX_OPEN_FILES} files are searched at once; select a family`;
  return { within, problem: { file: first, code: 'TOO_MANY_FILES', detail } };
}
