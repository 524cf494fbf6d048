import { access, constants, open, readdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { parseJson } from '@porthole/records';
import { hasCode } from '../errors.ts';
import { RotatedNames } from '../own-log/rotated-files.ts';

/** Where journald writes, on disk and in memory; each has a directory per machine. */
const SYSTEM_DIRS = ['/var/log/journal', '/run/log/journal'];

/** More are not examined. */
const MAX_FILES = 10_000;

/** The files of a journal, and how many of them this user cannot read. */
interface JournalFiles {
  files: number;
  unreadable: number;
}

/**
 * Checks the files themselves: `journalctl` silently leaves out those that it may not read, as long as there is one
 * that it may.
 */
export async function findJournalFiles(directory: string): Promise<JournalFiles> {
  const found: JournalFiles = { files: 0, unreadable: 0 };
  for (const dir of directory === '' ? SYSTEM_DIRS : [directory]) await addFiles(dir, found, 1);
  return found;
}

async function addFiles(dir: string, found: JournalFiles, depth: number): Promise<void> {
  for (const entry of await list(dir, found)) {
    if (found.files >= MAX_FILES) return;
    const path = join(dir, entry.name);
    if (entry.isDirectory() && depth > 0) await addFiles(path, found, depth - 1);
    else if (/\.journal~?$/.test(entry.name)) {
      found.files++;
      if (!(await isReadable(path))) found.unreadable++;
    }
  }
}

async function list(dir: string, found: JournalFiles) {
  try {
    return await readdir(dir, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'EACCES')) {
      found.files++;
      found.unreadable++;
    } else if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
    return [];
  }
}

/** A file that was vacuumed meanwhile is not missing. */
async function isReadable(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return true;
    if (hasCode(error, 'EACCES', 'EPERM')) return false;
    throw error;
  }
}

/** Why entries are missing, with the way out; `undefined` if none are. */
export function explainFiles({ files, unreadable }: JournalFiles, directory: string): string | undefined {
  if (files === 0) {
    const where = directory === '' ? `${SYSTEM_DIRS.join(' and ')} have` : `${directory} has`;
    return `${where} no journal files: is systemd-journald running? log.journal-dir names another directory`;
  }
  if (unreadable === 0) return undefined;
  const user = userName();
  const which = unreadable === files ? 'the journal files' : `${unreadable} of ${files} journal files`;
  const remedy = `add the user to the group systemd-journal ("usermod -aG systemd-journal ${user}") and start again`;
  return `the user ${user} may not read ${which}: ${remedy}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    // A user id without a name, as in many containers.
    if (!(error instanceof Error)) throw error;
    return String(process.getuid?.() ?? 'of this process');
  }
}

/** Longer than any line that is written, and than the notices that may follow an entry. */
const TAIL_BYTES = 2 * 1024 ** 2;

const LINE_FEED = 0x0a;

/** The cursor of the last entry of a log; also removes the line that a crash has cut. */
export async function readLastCursor(dir: string, fileName: string): Promise<string | undefined> {
  const names = new RotatedNames(fileName);
  const rotated = (await listDir(dir)).filter((name) => names.parse(name) !== undefined).sort();
  for (const name of [fileName, ...rotated.reverse()]) {
    const cursor = await cursorIn(join(dir, name));
    if (cursor !== undefined) return cursor;
  }
  return undefined;
}

async function cursorIn(path: string): Promise<string | undefined> {
  const file = await open(path, 'r+').catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
    return undefined;
  });
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    const tail = buffer.subarray(0, bytesRead);
    const end = tail.lastIndexOf(LINE_FEED) + 1;
    if (end < tail.length) await file.truncate(from + end);
    const lines = tail.toString('utf8', 0, end).split('\n').reverse();
    return lines.map(cursorOf).find((cursor) => cursor !== undefined);
  } finally {
    await file.close();
  }
}

function cursorOf(line: string): string | undefined {
  // The first line may be the rest of one, and lines that are not entries are kept as they are.
  const cursor = (parseJson(line) as { __CURSOR?: unknown } | null | undefined)?.__CURSOR;
  return typeof cursor === 'string' ? cursor : undefined;
}

async function listDir(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
