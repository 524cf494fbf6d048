import { type BigIntStats, constants, type Dirent } from 'node:fs';
import { open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { types } from 'node:util';
import { type ConfigFormat, matchesPattern, PortholeError } from '@porthole/contract';
import { SeenPaths } from '@porthole/logs';
import type { ConfigFile } from './config-view.ts';
import { formatOfName } from './formats/config-document.ts';

/** More than any service splits its configuration into; protects against includes without end. */
const MAX_FILES = 200;

/** Included files that include others. */
const MAX_INCLUDE_DEPTH = 10;

export interface ConfigFilesOptions {
  /** Empty if there are only others. */
  configFile: string;
  /** Files, directories, or files by a pattern (`conf.d/*.cnf`); later ones win. */
  configFiles: readonly string[];
  format?: ConfigFormat | undefined;
  /** For all of them together. */
  maxBytes: number;
}

/** The files of a service's configuration, and what is missing of it. */
export interface ReadFiles {
  files: ConfigFile[];
  problems: string[];
}

/** The files of a service's configuration, which are read again only when they may have changed. */
export class ServiceFiles {
  readonly #options: ConfigFilesOptions;
  readonly #now: () => number;
  #kept: { seen: SeenPaths; read: ReadFiles } | undefined;

  // clock: compared with times of the file system
  constructor(options: ConfigFilesOptions, now: () => number = Date.now) {
    this.#options = options;
    this.#now = now;
  }

  /** Returns the same object for as long as nothing has changed, and throws as `readConfigFiles` does. */
  async read(): Promise<ReadFiles> {
    if (this.#kept?.seen.isSameNow()) return this.#kept.read;
    this.#kept = undefined;
    const seen = new SeenPaths(this.#now);
    const read = await readConfigFiles(this.#options, seen);
    // What could not be read may become readable without a change of the file.
    if (read.problems.length === 0 && (await seen.isCertain())) this.#kept = { seen, read };
    return read;
  }
}

/**
 * Reads the files, and those that their directives include. Throws `CONFIG_UNAVAILABLE` if one that is named
 * cannot be read. An included file must lie in the directory of the file that was named, or below; another one, or one that
 * cannot be read, is a problem and left out.
 */
export async function readConfigFiles(options: ConfigFilesOptions, seen = new SeenPaths()): Promise<ReadFiles> {
  const { configFile, configFiles, format, maxBytes } = options;
  const reader = new FileReader({ format, maxBytes, seen });
  const files: ConfigFile[] = configFile === '' ? [] : [await reader.readNamed(configFile)];
  const [main] = files;
  const mainRoot = main && (await realDir(dirname(main.path)));
  for (const path of configFiles) files.push(...(await reader.readNamedAll(path, mainRoot)));
  if (files.length === 0) throw unavailable(configFiles.join(', '), 'no file matches');
  const [first] = files;
  if (first) files.push(...(await reader.readAlterSystem(first)));
  return { files, problems: reader.problems };
}

class FileReader {
  readonly problems: string[] = [];
  readonly #format: ConfigFormat | undefined;
  readonly #maxBytes: number;
  readonly #seen: SeenPaths;
  #bytes = 0;
  #count = 0;

  constructor({ format, maxBytes, seen }: Pick<ConfigFilesOptions, 'format' | 'maxBytes'> & { seen: SeenPaths }) {
    this.#format = format;
    this.#maxBytes = maxBytes;
    this.#seen = seen;
  }

  /** A file that the settings name: it may be a link to anywhere. */
  async readNamed(path: string): Promise<ConfigFile> {
    const root = dirname(await realpath(path).catch(() => path)); // reading it says what is wrong
    return this.#read(path, { roots: [root], isNamed: true, open: [], format: this.#format ?? formatOfName(path) });
  }

  /** Of a directory or a pattern, the settings do not name the files themselves. */
  async readNamedAll(path: string, mainRoot: string | undefined): Promise<ConfigFile[]> {
    const files: ConfigFile[] = [];
    for (const file of await expandPath(path, this.#seen)) {
      if (file === path) files.push(await this.readNamed(file));
      else {
        const roots = [await realDir(dirname(file)), ...(mainRoot === undefined ? [] : [mainRoot])];
        files.push(await this.#read(file, { roots, open: [], format: this.#format ?? formatOfName(file) }));
      }
    }
    return files;
  }

  /** PostgreSQL reads what ALTER SYSTEM has set after all others, from its data directory. */
  async readAlterSystem(main: ConfigFile): Promise<ConfigFile[]> {
    if (main.format !== 'postgresql') return [];
    const [, dataDir] = /^[ \t]*data_directory[ \t]*=?[ \t]*'([^'\r\n]+)'/m.exec(main.text) ?? [];
    const path = join(resolve(dirname(main.path), dataDir ?? '.'), 'postgresql.auto.conf');
    if (basename(main.path) === basename(path) || !(await lookAt(path, this.#seen))) return []; // there is none
    try {
      const roots = [await realDir(dirname(path))];
      return [await this.#read(path, { roots, open: [], format: main.format, hasIncludes: false })];
    } catch (error) {
      this.#report(error);
      return [];
    }
  }

  async #read(path: string, within: Within): Promise<ConfigFile> {
    if (++this.#count > MAX_FILES) throw unavailable(path, `the configuration has more than ${MAX_FILES} files`);
    const { roots, isNamed } = within;
    const limits = { maxBytes: this.#maxBytes - this.#bytes, seen: this.#seen };
    const bytes = await readBytes(path, { ...limits, ...(!isNamed && { roots }) });
    this.#bytes += bytes.length;
    const { text, format = within.format, problem } = decode(path, bytes, within.format);
    if (problem !== undefined) this.problems.push(problem);
    const includes: NonNullable<ConfigFile['includes']> = [];
    const found = within.hasIncludes === false ? [] : findIncludes(text, format);
    for (const { at, name, isDirectory, isOptional } of found) {
      const target = resolve(dirname(path), name);
      const inner = { ...within, isNamed: false, open: [...within.open, path] };
      const files = await this.#readIncluded(isDirectory ? join(target, '*.conf') : target, { ...inner, isOptional });
      includes.push({ at, files });
    }
    return { path, text, format, ...(includes.length > 0 && { includes }) };
  }

  async #readIncluded(
    pattern: string,
    { isOptional, ...within }: Within & { isOptional: boolean },
  ): Promise<ConfigFile[]> {
    const files: ConfigFile[] = [];
    try {
      for (const path of await expandPath(pattern, this.#seen, within.roots)) {
        if (within.open.includes(path) || within.open.length > MAX_INCLUDE_DEPTH)
          throw unavailable(path, 'it includes itself, or too many files in turn');
        files.push(await this.#read(path, within));
      }
    } catch (error) {
      const cause = error instanceof PortholeError ? error.cause : error;
      const isAbsent = types.isNativeError(cause) && 'code' in cause && cause.code === 'ENOENT';
      if (!isAbsent || !isOptional) this.#report(error, pattern);
    }
    return files;
  }

  #report(error: unknown, path = ''): void {
    this.problems.push(error instanceof PortholeError ? error.message : unavailable(path, reasonOf(error)).message);
  }
}

/** What is known of a file before it is read. */
interface Within {
  /** Files must lie below one of them, wherever links lead, unless the settings name them. */
  roots: readonly string[];
  isNamed?: boolean;
  hasIncludes?: boolean;
  /** The files that include it. */
  open: readonly string[];
  format: ConfigFormat | undefined;
}

interface Include {
  /** Where the name stands in the text. */
  at: number;
  name: string;
  isDirectory: boolean;
  isOptional: boolean;
}

const INCLUDES: Partial<Record<ConfigFormat, RegExp>> = {
  postgresql: /^[ \t]*(include(?:_if_exists|_dir)?)[ \t]*=?[ \t]*'([^'\r\n]+)'/gm,
  'key-value': /^[ \t]*(include)[ \t]+"?([^"\s]+)/gm,
  nginx: /(?<=^|[;{}])[ \t]*(include)[ \t]+["']?([^;"'\s]+)/gm,
};

function findIncludes(text: string, format: ConfigFormat | undefined): Include[] {
  const pattern = format && INCLUDES[format];
  return [...(pattern ? text.matchAll(pattern) : [])].map(({ 0: whole, 1: directive, 2: name = '', index }) => ({
    at: index + whole.indexOf(name, whole.indexOf(directive ?? '') + (directive?.length ?? 0)),
    name,
    isDirectory: directive === 'include_dir',
    isOptional: directive === 'include_if_exists',
  }));
}

/** The files of a directory, or those that match a pattern in the last part of a path, by name; or the path itself. */
async function expandPath(path: string, seen: SeenPaths, roots?: readonly string[]): Promise<string[]> {
  const isPattern = /[*?]/.test(basename(path));
  const dir = isPattern ? dirname(path) : path;
  const stats = await lookAt(dir, seen);
  if (!isPattern && !stats?.isDirectory()) return [path];
  const pattern = isPattern ? basename(path) : '*';
  let found: Dirent[];
  try {
    // The names in other directories are not for the clients either.
    if (roots) assertBelow(roots, await realpath(dir), dir);
    found = await readdir(dir, { withFileTypes: true });
  } catch (error) {
    if (error instanceof PortholeError) throw error;
    if (isPattern && types.isNativeError(error) && 'code' in error && error.code === 'ENOENT') return [];
    throw unavailable(dir, reasonOf(error), error);
  }
  return found
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.') && matchesPattern(entry.name, pattern))
    .map(({ name }) => join(dir, name))
    .sort();
}

/** What is at a path; `undefined` if nothing is, or it cannot be found out. */
async function lookAt(path: string, seen: SeenPaths): Promise<BigIntStats | undefined> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined); // reading it says what is wrong
  seen.note(path, stats);
  return stats;
}

interface ReadLimits {
  maxBytes: number;
  seen: SeenPaths;
  /** The file must lie below one of them; without it, anywhere. */
  roots?: readonly string[];
}

/** Opens every file of a configuration, and reads it. What is no file is not opened: it may have side effects. */
async function readBytes(path: string, { maxBytes, seen, roots }: ReadLimits): Promise<Buffer> {
  try {
    const target = await realpath(path);
    if (roots) assertBelow(roots, target, path);
    if (!(await stat(target)).isFile()) throw unavailable(path, 'it is not a regular file');
    const handle = await open(target, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stats = await handle.stat({ bigint: true });
      seen.note(path, stats);
      // A directory on the way may have become a link since: the kernel knows where the opened file is.
      const isLinux = process.platform === 'linux';
      if (roots) assertBelow(roots, await (isLinux ? readlink(`/proc/self/fd/${handle.fd}`) : realpath(path)), path);
      if (!stats.isFile()) throw unavailable(path, 'it is not a regular file');
      if (stats.size > maxBytes)
        throw unavailable(path, `it is larger than ${maxBytes} bytes, the limit set by config.max-bytes`);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof PortholeError) throw error;
    throw unavailable(path, reasonOf(error), error);
  }
}

function assertBelow(roots: readonly string[], target: string, path: string): void {
  if (roots.some((root) => target === root || target.startsWith(`${root.replace(/\/$/, '')}/`))) return;
  throw unavailable(path, 'files outside the directory of the configuration are not read');
}

async function realDir(path: string): Promise<string> {
  return realpath(path).catch(() => path); // reading what is in it says what is wrong
}

/** TOML is UTF-8 and Java's properties are Latin-1 too; UTF-16 is known by its mark or its zeros; another file is text. */
function decode(
  path: string,
  bytes: Uint8Array,
  format: ConfigFormat | undefined,
): { text: string; format?: ConfigFormat; problem?: string } {
  const encoding = unicodeOf(bytes);
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    // The names of secrets would not be found in it.
    if (text.includes('\0')) throw unavailable(path, 'it is not text');
    return { text };
  } catch (error) {
    if (error instanceof PortholeError) throw error;
    if (format === 'toml') throw unavailable(path, 'it is not UTF-8 text', error);
    const text = new TextDecoder('latin1').decode(bytes);
    if (text.includes('\0')) throw unavailable(path, 'it is not text');
    if (format === 'properties') return { text };
    return { text, format: 'text', problem: `${path}: it is not UTF-8 text` };
  }
}

function unicodeOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? 'utf-16be' : 'utf-8';
}

function reasonOf(error: unknown): string {
  return types.isNativeError(error) && 'code' in error ? String(error.code) : 'it cannot be read';
}

function unavailable(path: string, reason: string, cause?: unknown): PortholeError {
  return new PortholeError('CONFIG_UNAVAILABLE', `the configuration file ${path} cannot be shown: ${reason}`, {
    cause,
  });
}
