import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { decodeCursor, START_CURSOR } from '../../cursor/cursor.ts';
import { isUndecodedName } from '../../file/compression.ts';
import { groupManyFamilies, sourceNotFound } from '../../file/families.ts';
import { DirStamp } from '../../file/file-stamp.ts';
import type { LogHandle } from '../../file/handle-cache.ts';
import { isSystemError, LogError, systemCode } from '../../log-error.ts';
import { type LogSource, LogSources } from '../../query/log-sources.ts';
import { isPattern, matchesPattern } from '../../query/match-pattern.ts';
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

/** A log, or some files of one, as it is selected. */
interface SelectedFamily extends FamilyNames {
  /** Selected by name, not only by a pattern or with all others. */
  isNamed: boolean;
}

/** Zones of timestamps, and the clocks that write them, may be off by this much. */
const SLACK_MS = 86_400_000;

/**
 * The families of a listing that are selected, with those of their files that are; each file once, whatever overlaps. A link
 * to another log is selected only by its name. A file whose compression is not read is left out if it was last written before
 * the time range, so that searches of recent records do not report it.
 */
async function selectFamilies(
  seen: readonly SeenFile[],
  { src, fromMs = Number.NEGATIVE_INFINITY }: LogSelection & Pick<RecordFilter, 'fromMs'>,
): Promise<{ selected: SelectedFamily[]; missing: LogSource[] }> {
  const isBefore = ({ name, stats }: SeenFile) =>
    isUndecodedName(name) && Number(stats.mtimeNs / 1_000_000n) + SLACK_MS < fromMs;
  const before = new Set(seen.filter(isBefore).map(({ name }) => name));
  const families = (await groupManyFamilies(seen.map(({ name }) => name))).map(({ name, files }) => ({
    name,
    files: files.flatMap((file) => (before.has(file.name) ? [] : [file.name])),
  }));
  const logs = sourcesAmong(src, families);
  const unlinked = new Set(withoutLinkedFamilies(families, seen));
  const selected = families.flatMap((family) => selectFiles(family, logs, { isLink: !unlinked.has(family) }));
  const names = {
    family: families.map(({ name }) => name),
    file: families.flatMap(({ files }) => files),
  };
  const missing = logs.list.filter(
    ({ node, kind, name }) =>
      node !== '' || !names[kind].some((known) => known === name || matchesPattern(known, name)),
  );
  return { selected, missing };
}

/** What looks like a pattern, and is the name of a log or a file, is that name. */
function sourcesAmong(src: readonly string[] | undefined, families: readonly FamilyNames[]): LogSources {
  const names = {
    family: new Set(families.map(({ name }) => name)),
    file: new Set(families.flatMap(({ files }) => files)),
  };
  return new LogSources(src, ({ kind, name }) => !isPattern(name) || names[kind].has(name));
}

function selectFiles(
  { name, files }: FamilyNames,
  logs: LogSources,
  { isLink }: { isLink: boolean },
): SelectedFamily[] {
  const isNamed = logs.names('family', name);
  if (isNamed || (logs.hasFamily(name) && !isLink)) return [{ name, files, isNamed }];
  const named = files.filter((file) => logs.names('file', file));
  const some = isLink ? named : files.filter((file) => logs.hasFile(file, name));
  const [only] = some;
  if (only === undefined) return [];
  return [{ name: some.length === 1 ? only : name, files: some, isNamed: named.length > 0 }];
}

/** Whether the selected names refer to the same files in two listings. */
async function haveSameFiles(
  before: readonly SeenFile[],
  after: readonly SeenFile[],
  selection: LogSelection,
): Promise<boolean> {
  const [first, second] = [await selectedFiles(before, selection), await selectedFiles(after, selection)];
  return first.length === second.length && first.every((file, index) => isSameFile(file, second[index]));
}

async function selectedFiles(seen: readonly SeenFile[], { src }: LogSelection): Promise<readonly SeenFile[]> {
  const logs = new LogSources(src);
  if (logs.isAll) return seen;
  const { selected } = await selectFamilies(seen, { ...(src && { src }) });
  // If there are no files, all of them decide.
  if (selected.length === 0) return seen;
  const names = new Set(selected.flatMap(({ files }) => files));
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
  families: readonly SelectedFamily[],
  { seen, begun: findBegun, fromMs = Number.NEGATIVE_INFINITY }: LimitOptions,
): {
  within: readonly SelectedFamily[];
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
  const taken = new Set<SelectedFamily>();
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
  const { only } = new LogSources(selection.src);
  if (only?.kind === 'file') {
    // A family omits files that no longer exist; a file requested by name must exist.
    (await deps.acquire(only.name)).release();
    const chosen = { selected: [{ name: only.name, files: [only.name], isNamed: true }], problems: [] };
    return openChosen(deps, [], { ...chosen, selection }, options);
  }
  for (let attempt = 1; ; attempt++) {
    const quiet = await DirStamp.take(deps.dir);
    const seen = await deps.list(only?.name);
    const chosen = await chooseFamilies(deps, seen, selection);
    const opened = await openChosen(deps, seen, { ...chosen, selection }, options);
    // The directories below are not watched: they are listed again.
    const isQuiet = (deps.isFlat ?? true) && (await quiet.isSame());
    if (attempt === MAX_ATTEMPTS || options.signal?.aborted || isQuiet) return opened;
    try {
      if (await haveSameFiles(seen, await deps.list(only?.name), selection)) return opened;
    } catch (error) {
      opened.forEach(releaseFamily);
      throw error;
    }
    opened.forEach(releaseFamily);
    await delay(ATTEMPT_MS * (attempt - 1));
  }
}

interface ChosenFamilies {
  selected: SelectedFamily[];
  /** What was selected and is not there, beside what is. */
  problems: FileProblem[];
}

/** Throws if nothing that was selected is there. */
async function chooseFamilies(
  deps: OpenDeps,
  seen: readonly SeenFile[],
  selection: Selection,
): Promise<ChosenFamilies> {
  const { selected, missing } = await selectFamilies(seen, selection);
  const problems: FileProblem[] = [];
  let failure: unknown;
  for (const source of missing) {
    try {
      selected.push(await findUnlisted(deps, seen, source));
    } catch (error) {
      if (!(error instanceof LogError) || error.code === 'FILE_NAME_INVALID') throw error;
      failure ??= error;
      problems.push({ file: source.name, code: error.code, detail: error.message });
    }
  }
  if (selected.length === 0 && failure !== undefined) throw failure;
  return { selected, problems };
}

/** A file may be there although it is not in the listing: it is opened by its name. */
async function findUnlisted(deps: OpenDeps, seen: readonly SeenFile[], source: LogSource): Promise<SelectedFamily> {
  const { node, kind, name } = source;
  if (node === '' && kind === 'file' && !isPattern(name)) {
    (await deps.acquire(name)).release();
    return { name, files: [name], isNamed: true };
  }
  const families = await groupManyFamilies(seen.map((file) => file.name));
  throw sourceNotFound(
    source,
    families.map((family) => family.name),
  );
}

async function openChosen(
  deps: OpenDeps,
  seen: readonly SeenFile[],
  { selected, problems: missing, selection }: ChosenFamilies & { selection: Selection },
  options: SearchOptions,
): Promise<OpenFamily[]> {
  // Before the files are opened: a log that catches up meanwhile is longer than what is read of it.
  const deleted = deps.deleted?.(selection) ?? [];
  const problems = [...missing, ...(deps.problems?.(selection) ?? [])];
  const { within, problem } = withinLimit(selected, { seen, begun: () => begunFiles(selection), ...selection });
  // A missing directory has no records, which must not look like a quiet one.
  const missingDir = selected.length === 0 ? await findMissingDir(deps.dir) : undefined;
  const opened: OpenFamily[] = missingDir ? [{ name: '', files: [], duplicates: [], problems: [missingDir] }] : [];
  try {
    for (const { isNamed, ...family } of within) {
      const all = await openFamily(deps.opener, family, options);
      opened.push(isNamed ? all : leaveOutUntimed(all));
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
