import { setTimeout as delay } from 'node:timers/promises';
import { decodeCursor, START_CURSOR } from '../../cursor/cursor.ts';
import { DirStamp } from '../../file/file-stamp.ts';
import type { LogHandle } from '../../file/log-handle.ts';
import { LogError } from '../../log-error.ts';
import type { SeenFile } from '../../read/list.ts';
import type { FileProblem, LogSelection, RecordFilter, SearchQuery } from '../../types.ts';
import type { SearchOptions } from '../stop-reason.ts';
import { findMissingDir } from './missing-dir.ts';
import { type DeletedRecords, leaveOutUntimed, type OpenFamily, openFamily, releaseFamily } from './open-family.ts';
import type { FileOpener } from './open-file.ts';
import { haveSameFiles, selectFamilies, withinLimit } from './selected-families.ts';

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
