import type { Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { errorMessage } from '@porthole/contract';
import { nearestNames } from '@porthole/logs';
import { ProgramError } from '../exit.ts';
import { visibleText } from '../output/visible-text.ts';

export interface LocalPath {
  dir: string;
  /** `undefined` for the directory itself. */
  file: string | undefined;
}

/**
 * The local file or directory a word names, or `undefined` if there is none. Symbolic links are resolved: the directory of
 * their target is the one that is read. With `onlyExplicit`, a word without directories is a log of a node; one like
 * `nginx/access.log` is, too, unless there is such a file.
 */
export async function findPath(word: string, onlyExplicit: boolean): Promise<LocalPath | undefined> {
  const isExplicit = word.includes('/') || word === '.' || word === '..';
  if (onlyExplicit && !isExplicit) return undefined;
  try {
    const path = await realpath(word);
    const stats = await stat(path);
    if (stats.isDirectory()) return { dir: path, file: undefined };
    if (stats.isFile()) return { dir: dirname(path), file: basename(path) };
  } catch (error) {
    const mayBeRemote = !isExplicit || (onlyExplicit && !/^(\/|\.\.?(\/|$))/.test(word));
    if (mayBeRemote && isMissing(error)) return undefined;
    const near = isMissing(error) ? await nearFiles(word) : [];
    throw new ProgramError(`${word}: ${explainPathError(error)}${meantText(near)}`, { cause: error });
  }
  throw new ProgramError(`${word}: neither a file nor a directory`);
}

/** Files whose names are near to that of a file that does not exist, as it would be written. */
export async function nearFiles(word: string): Promise<string[]> {
  const dir = word.slice(0, word.lastIndexOf('/') + 1);
  // A directory that cannot be read has nothing to offer.
  const names = await readdir(dir || '.').catch(() => []);
  return nearestNames(word.slice(dir.length), names).map((name) => dir + name);
}

/** `; did you mean "a.log" or "b.log"?` */
export function meantText(names: readonly string[]): string {
  if (names.length === 0) return '';
  return visibleText(`; did you mean ${names.map((name) => JSON.stringify(name)).join(' or ')}?`);
}

/** The file at a path, or `undefined` if there is none. */
export async function statIfExists(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

function explainPathError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'no such file or directory';
  if (code === 'EACCES') return 'permission denied';
  return errorMessage(error);
}

const JOURNAL = 'journal:';

/** `journal:` or `journal:UNIT`. A node with this id is reached by a pattern: `journal*:`. */
export function isJournal(target: string): boolean {
  return target.startsWith(JOURNAL);
}

/** The unit after the colon, if there is one. */
export function journalUnit(target: string): string | undefined {
  return target.slice(JOURNAL.length) || undefined;
}

/** The name of that log on a node. */
export function journalLog(target: string): string {
  const unit = journalUnit(target);
  if (unit?.includes('/')) throw new ProgramError(`invalid unit in ${JSON.stringify(target)}`);
  return `journal/${unit === undefined ? 'all' : unit.includes('.') ? unit : `${unit}.service`}.log`;
}
