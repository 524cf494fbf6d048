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
  /** What is never shown, wherever it lies and whatever leads to it. */
  own?: OwnPaths | undefined;
  mounts?: readonly LogMount[];
}

/** Real paths of the program that serves the logs. */
export interface OwnPaths {
  /** What all of its paths begin with; those of directories end with a separator. */
  prefixes: readonly string[];
  /** Directories whose files are its own; those in directories below them are not. */
  dirs: readonly string[];
}

/** Where links may lead, and directories below be. */
export type LogReach = Pick<LogTree, 'roots' | 'own'>;

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

/** The real paths of the directory and of the roots, below which a file may be, and where it may not be. */
export interface Homes {
  paths: readonly Buffer[];
  own: OwnPaths | undefined;
}

/** A root that is missing has no files. */
export async function realHomes(dir: string, { roots, own }: LogReach): Promise<Homes> {
  const others = await Promise.all(roots.map(realPathIfAny));
  return { paths: [await realpath(dir, 'buffer'), ...others.flatMap((home) => home ?? [])], own };
}

async function realPathIfAny(path: string): Promise<Buffer | undefined> {
  try {
    return await realpath(path, 'buffer');
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Whether a file may be shown. */
export function holdsFile({ paths, own }: Homes, target: Buffer): boolean {
  return paths.some((home) => isWithin(home, target)) && !isOwn(own, target) && !isOwnDir(own, parentOf(target));
}

/** The same for a directory, which may also be one of them. */
export function holdsDir({ paths, own }: Homes, target: Buffer): boolean {
  return paths.some((home) => home.equals(target) || isWithin(home, target)) && !isOwn(own, target);
}

/** Whether the files directly in a directory are not shown. */
export function isOwnDir(own: OwnPaths | undefined, target: Buffer): boolean {
  return own?.dirs.some((dir) => target.equals(Buffer.from(dir))) ?? false;
}

function isOwn(own: OwnPaths | undefined, target: Buffer): boolean {
  if (!own) return false;
  const path = Buffer.concat([target, SEPARATOR]);
  return own.prefixes.some((prefix) => path.indexOf(prefix) === 0);
}

function parentOf(target: Buffer): Buffer {
  return target.subarray(0, target.lastIndexOf(SEPARATOR));
}

/**
 * What is tested for hidden names: the path below the log directory, or only the name of a file elsewhere, whose path
 * is not ours.
 */
export function nameBelow({ paths: [home] }: Homes, target: Buffer): string {
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
