import { isUndecodedName } from '../../file/compression.ts';
import { groupManyFamilies } from '../../file/families.ts';
import { familyNotFound } from '../../file/family-not-found.ts';
import { withoutLinkedFamilies } from '../../read/linked-logs.ts';
import type { SeenFile } from '../../read/list.ts';
import type { FileProblem, LogSelection, RecordFilter } from '../../types.ts';

/** Each holds a descriptor during the query. */
const MAX_OPEN_FILES = 1000;

export interface FamilyNames {
  name: string;
  files: string[];
}

/** Zones of timestamps, and the clocks that write them, may be off by this much. */
const SLACK_MS = 86_400_000;

/**
 * The families of a listing that are selected; throws if there is none with the name. A link to another log is selected
 * only by its name. A file whose compression is not read is left out if it was last written before the time range, so
 * that searches of recent records do not report it.
 */
export async function selectFamilies(
  seen: readonly SeenFile[],
  { family: wanted, fromMs = Number.NEGATIVE_INFINITY }: LogSelection & Pick<RecordFilter, 'fromMs'>,
): Promise<readonly FamilyNames[]> {
  const isBefore = ({ name, stats }: SeenFile) =>
    isUndecodedName(name) && Number(stats.mtimeNs / 1_000_000n) + SLACK_MS < fromMs;
  const before = new Set(seen.filter(isBefore).map(({ name }) => name));
  const families = (await groupManyFamilies(seen.map(({ name }) => name))).map(({ name, files }) => ({
    name,
    files: files.flatMap((file) => (before.has(file.name) ? [] : [file.name])),
  }));
  if (wanted === undefined) return withoutLinkedFamilies(families, seen);
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

export interface LimitOptions extends Pick<RecordFilter, 'fromMs'> {
  seen: readonly SeenFile[];
  /** Names of files that the query continues in. */
  begun(): ReadonlySet<string>;
}

/**
 * Whole families, as many as may be open at a time: those that the query continues in, then those written last. What is
 * left out is a problem, unless it was last written before the time range.
 */
export function withinLimit(
  families: readonly FamilyNames[],
  { seen, begun: findBegun, fromMs = Number.NEGATIVE_INFINITY }: LimitOptions,
): {
  within: readonly FamilyNames[];
  problem: FileProblem | undefined;
} {
  const total = families.reduce((sum, { files }) => sum + files.length, 0);
  if (total <= MAX_OPEN_FILES || families.length < 2) return { within: families, problem: undefined };
  const begun = findBegun();
  const writtenMs = new Map(seen.map(({ name, stats }) => [name, Number(stats.mtimeNs / 1_000_000n)]));
  const newestFirst = families
    .map((family) => ({
      family,
      isBegun: family.files.some((name) => begun.has(name)),
      lastMs: family.files.reduce((last, name) => Math.max(last, writtenMs.get(name) ?? 0), 0),
    }))
    .sort((a, b) => Number(b.isBegun) - Number(a.isBegun) || b.lastMs - a.lastMs);
  let open = 0;
  const taken = new Set<FamilyNames>();
  for (const { family } of newestFirst) {
    if (open > 0 && open + family.files.length > MAX_OPEN_FILES) continue;
    open += family.files.length;
    taken.add(family);
  }
  const left = newestFirst.filter(({ family, lastMs }) => !taken.has(family) && lastMs + SLACK_MS >= fromMs);
  const within = families.filter((family) => taken.has(family));
  const [first] = left;
  if (!first) return { within, problem: undefined };
  const files = left.reduce((sum, { family }) => sum + family.files.length, 0);
  const detail =
    `${files} files of ${left.length} logs were not read: at most ${MAX_OPEN_FILES} files are read at once, ` +
    'those of the logs written last; select a log by its name, or a time range';
  return { within, problem: { file: first.family.name, code: 'TOO_MANY_FILES', detail } };
}
