import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { systemCode } from '../log-error.ts';
import type { FileProblem } from '../types.ts';

const SEPARATOR = Buffer.from(sep);

/** Which files below the log directory are logs, and where links may lead. */
export interface LogTree {
  /** Levels of directories below the log directory; 0: none. */
  depth: number;
  /** Entries of those directories that are examined; the others are not listed, which is reported. */
  maxEntries: number;
  /** Directories that links may lead to, besides the log directory. */
  roots: readonly string[];
  mounts?: readonly LogMount[];
}

/** A directory elsewhere. The files directly in it are logs, named `NAME/FILE`, whatever the depth is. */
export interface LogMount {
  name: string;
  path: string;
  /** Why some of its logs are missing or incomplete, by the names of their live files. */
  problems(): readonly FileProblem[];
}

/** Where a name is looked up. */
export interface Location {
  dir: string;
  name: string;
  /** How many directories the name may have. */
  depth: number;
}

export function findMount({ mounts = [] }: Pick<LogTree, 'mounts'>, name: string): LogMount | undefined {
  return mounts.find((mount) => name.startsWith(`${mount.name}/`));
}

export function locate(dir: string, tree: LogTree, name: string): Location {
  const mount = findMount(tree, name);
  return mount
    ? { dir: mount.path, name: name.slice(mount.name.length + 1), depth: 0 }
    : { dir, name, depth: tree.depth };
}

/** Only the files directly in the directory, and links that stay in it. */
export const FLAT: LogTree = { depth: 0, maxEntries: 0, roots: [] };

/** The real paths a file may have: below the directory, or below one of the roots. A root that is missing has no files. */
export async function realHomes(dir: string, { roots }: Pick<LogTree, 'roots'>): Promise<Buffer[]> {
  const others = await Promise.all(roots.map(realPathIfAny));
  return [await realpath(dir, 'buffer'), ...others.flatMap((home) => home ?? [])];
}

async function realPathIfAny(path: string): Promise<Buffer | undefined> {
  try {
    return await realpath(path, 'buffer');
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

export function isWithinAny(homes: readonly Buffer[], target: Buffer): boolean {
  return homes.some((home) => isWithin(home, target));
}

/** The same for a directory, which may also be one of them. */
export function isHomeOrWithin(homes: readonly Buffer[], target: Buffer): boolean {
  return isWithinAny(homes, target) || homes.some((home) => home.equals(target));
}

/**
 * What is tested for hidden names: the path below the log directory, or only the name of a file elsewhere, whose path
 * is not ours.
 */
export function nameBelow([home]: readonly Buffer[], target: Buffer): string {
  if (home && isWithin(home, target)) return target.subarray(home.length).toString().replace(/^\/+/, '');
  return target.toString().replace(/^.*\//s, '');
}

/**
 * Whether a real path is below a real directory. Compared as bytes, because different paths can decode to the same
 * text.
 */
export function isWithin(home: Buffer, target: Buffer): boolean {
  const prefix = home.subarray(-SEPARATOR.length).equals(SEPARATOR) ? home : Buffer.concat([home, SEPARATOR]);
  return target.length > prefix.length && target.subarray(0, prefix.length).equals(prefix);
}
