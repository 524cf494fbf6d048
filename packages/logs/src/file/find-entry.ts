import type { BigIntStats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { statEntry } from '../fs-calls.ts';
import { systemCode } from '../log-error.ts';
import type { EntryStats } from './entry-stats.ts';

/** Shown for a byte that is not UTF-8. */
const REPLACEMENT = '\uFFFD';

export interface FoundEntry {
  /** As bytes if the name on disk is not UTF-8. */
  path: string | Buffer;
  /** Stats of the entry itself: links are not followed. */
  stats: BigIntStats;
}

/** Looks up an entry by the name shown in the listing. Rejects as `lstat` does. */
export async function findEntry(dir: string, name: string): Promise<FoundEntry> {
  const path = join(dir, name);
  try {
    return { path, stats: await statEntry(path) };
  } catch (error) {
    const misspelt = systemCode(error) === 'ENOENT' && name.includes(REPLACEMENT) && (await findShownAs(dir, name));
    if (!misspelt) throw error;
    return { path: misspelt, stats: await statEntry(misspelt) };
  }
}

/** The same on this thread, for a local file system; `undefined` if it fails. */
export function findEntryNow(dir: string, name: string, entries: EntryStats): FoundEntry | undefined {
  const path = join(dir, name);
  try {
    return { path, stats: entries.statNow(path) };
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** The path of an entry whose name need not be UTF-8. */
function entryPath(dir: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(dir + sep), name]);
}

/** The only entry shown as `name`; `undefined` if several are, because it could be the wrong one. */
async function findShownAs(dir: string, name: string): Promise<Buffer | undefined> {
  const [found, ...others] = (await readdir(dir, 'buffer')).filter((bytes) => bytes.toString() === name);
  return found && others.length === 0 ? entryPath(dir, found) : undefined;
}

/*
 * Directory entry names as raw bytes, one character per byte (latin1): a name need not be UTF-8, and a `Buffer` for
 * each of 100,000 takes ten times the memory of a string.
 */

const BEYOND_ASCII = /[^\0-\x7f]/;

/** The name as shown: U+FFFD for bytes that are not UTF-8. */
export function shownName(raw: string): string {
  return BEYOND_ASCII.test(raw) ? Buffer.from(raw, 'latin1').toString() : raw;
}

export function rawPath(dir: string, raw: string): string | Buffer {
  return BEYOND_ASCII.test(raw) ? entryPath(dir, Buffer.from(raw, 'latin1')) : dir + sep + raw;
}
