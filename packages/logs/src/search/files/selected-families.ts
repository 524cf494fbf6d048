import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { decodeCursor, START_CURSOR } from '../../cursor/cursor.ts';
import { isUndecodedName } from '../../file/compression.ts';
import { familyNotFound, groupManyFamilies } from '../../file/families.ts';
import { DirStamp } from '../../file/file-stamp.ts';
import type { LogHandle } from '../../file/handle-cache.ts';
import { isSystemError, LogError, systemCode } from '../../log-error.ts';
import { type SeenFile, withoutLinkedFamilies } from '../../read/list.ts';
import type { FileProblem, LogSelection, RecordFilter, SearchQuery } from '../../types.ts';
import type { SearchOptions } from '../stop-reason.ts';
import { type DeletedRecords, leaveOutUntimed, type OpenFamily, openFamily, releaseFamily } from './open-family.ts';
import type { FileOpener } from './open-file.ts';

/** Each holds a descriptor during the query. */
const MAX_OPEN_FILES = 1000;

interface FamilyNames {
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
async function selectFamilies(
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
async function haveSameFiles(
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

interface LimitOptions extends Pick<RecordFilter, 'fromMs'> {
  seen: readonly SeenFile[];
  /** Names of files that the query continues in. */
  begun(): ReadonlySet<string>;
}

/**
 * Whole families, as many as may be open at a time: those that the query continues in, then those written last. What is
 * left out is a problem, unless it was last written before the time range.
 */
function withinLimit(
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

/** Attempts to open the files of a family while they are being renamed; after that the last set opened is used. */
const MAX_ATTEMPTS = 10;

/** Delay between attempts, multiplied by their number: a rotation takes a few milliseconds. */
const ATTEMPT_MS = 2;

/** `start`, `until`: the cursors that the query continues at. */
export type Selection = LogSelection & Pick<RecordFilter, 'fromMs'> & Partial<Pick<SearchQuery, 'start' | 'until'>>;

export interface OpenDeps {
  dir: string;
  opener: FileOpener;
  list(family?: string): Promise<SeenFile[]>;
  isFlat?: boolean;
  problems?(selection: LogSelection): readonly FileProblem[];
  deleted?(selection: Selection): readonly DeletedRecords[];
  acquire(name: string): Promise<LogHandle>;
}

/**
 * Opens the selected families. Files are renamed one after the other during a rotation: opening them by name may miss
 * one.
 */
export async function openSelected(
  deps: OpenDeps,
  selection: Selection,
  options: SearchOptions,
): Promise<OpenFamily[]> {
  if (selection.file !== undefined) return openListed(deps, [], selection, options);
  for (let attempt = 1; ; attempt++) {
    const quiet = await DirStamp.take(deps.dir);
    const seen = await deps.list(selection.family);
    const opened = await openListed(deps, seen, selection, options);
    // The directories below are not watched: they are listed again.
    const isQuiet = (deps.isFlat ?? true) && (await quiet.isSame());
    if (attempt === MAX_ATTEMPTS || options.signal?.aborted || isQuiet) return opened;
    try {
      const family = selection.family;
      if (await haveSameFiles(seen, await deps.list(family), family)) return opened;
    } catch (error) {
      opened.forEach(releaseFamily);
      throw error;
    }
    opened.forEach(releaseFamily);
    await delay(ATTEMPT_MS * (attempt - 1));
  }
}

async function openListed(
  deps: OpenDeps,
  seen: readonly SeenFile[],
  selection: Selection,
  options: SearchOptions,
): Promise<OpenFamily[]> {
  const { file } = selection;
  // Before the files are opened: a log that catches up meanwhile is longer than what is read of it.
  const deleted = deps.deleted?.(selection) ?? [];
  const problems = deps.problems?.(selection) ?? [];
  // A family omits files that no longer exist; a file requested by name must exist.
  if (file !== undefined) (await deps.acquire(file)).release();
  const families = file === undefined ? await selectFamilies(seen, selection) : [{ name: file, files: [file] }];
  const { within, problem } = withinLimit(families, { seen, begun: () => begunFiles(selection), ...selection });
  // A missing directory has no records, which must not look like a quiet one.
  const missing = families.length === 0 ? await findMissingDir(deps.dir) : undefined;
  const opened: OpenFamily[] = missing ? [{ name: '', files: [], duplicates: [], problems: [missing] }] : [];
  try {
    const isAll = file === undefined && selection.family === undefined;
    for (const family of within) {
      const all = await openFamily(deps.opener, family, options);
      opened.push(isAll ? leaveOutUntimed(all) : all);
    }
  } catch (error) {
    opened.forEach(releaseFamily);
    // Cancelled while files were being opened: ends like a search cancelled later, with nothing scanned.
    if (options.signal?.aborted && !(error instanceof LogError)) return [];
    throw error;
  }
  // Nothing to read and something wrong must not look like quiet logs.
  if (problems.length + deleted.length > 0 && opened.length === 0)
    opened.push({ name: '', files: [], duplicates: [], problems: [] });
  opened[0]?.problems.push(...(problem ? [problem] : []), ...problems);
  if (opened[0]) opened[0].deleted = deleted;
  return opened;
}

/** The files that its cursors name: a page must not lose the logs of the one before. */
function begunFiles({ start, until }: Selection): ReadonlySet<string> {
  const from = start && ('cursor' in start ? start.cursor : 'record' in start ? start.record : undefined);
  const cursors = [from, until].filter((cursor) => cursor !== undefined && cursor !== START_CURSOR);
  return new Set(cursors.flatMap((cursor) => decodeCursor(cursor ?? '').map(({ file }) => file)));
}

/** A directory that cannot be read, as a problem of a search. */
async function findMissingDir(dir: string): Promise<FileProblem | undefined> {
  try {
    await stat(dir);
    return undefined;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const why = systemCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read: ${systemCode(error)}`;
    return { file: '.', code: 'LOG_DIR_UNREADABLE', detail: `the log directory ${why}` };
  }
}
