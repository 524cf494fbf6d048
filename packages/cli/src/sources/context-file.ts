import { mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorMessage } from '@porthole/contract';
import { nearestNames, replaceFile } from '@porthole/logs';
import { ProgramError } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';
import { isMissing } from './find-path.ts';

/** A node and how to reach it. Credentials stay in their files; only the paths are kept. */
export interface Context {
  url: string;
  tokenFile?: string;
  caFile?: string;
  certFile?: string;
  keyFile?: string;
}

export interface Contexts {
  /** Used where nothing else names a node. */
  current: string | null;
  contexts: Readonly<Record<string, Context>>;
}

/** The paths in a context. */
const CONTEXT_FILES = ['tokenFile', 'caFile', 'certFile', 'keyFile'] as const;

const FORMAT = 1;

/** Larger than any list of contexts. */
const MAX_BYTES = 1024 ** 2;

const PRIVATE_DIR = 0o700;

const READABLE_BY_OTHERS = 0o044;
const WRITABLE_BY_OTHERS = 0o022;

/** `undefined` where the environment has no home directory. */
export function contextFilePath({ XDG_CONFIG_HOME, HOME }: NodeJS.ProcessEnv): string | undefined {
  // Relative paths are to be ignored: XDG Base Directory Specification.
  const config = XDG_CONFIG_HOME?.startsWith('/') ? XDG_CONFIG_HOME : HOME ? join(HOME, '.config') : undefined;
  return config === undefined ? undefined : join(config, 'porthole', 'contexts.json');
}

/** The contexts of this user; none if there is no file. */
export async function readContexts(env: NodeJS.ProcessEnv, terminal: Pick<Terminal, 'warn'>): Promise<Contexts> {
  const path = contextFilePath(env);
  const text = path === undefined ? undefined : await readPrivate(path, terminal);
  return text === undefined ? { current: null, contexts: {} } : parseContexts(text, path ?? '');
}

/** The context with this name. */
export function findContext({ contexts }: Contexts, name: string): Context {
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (found) return found;
  const [nearest] = nearestNames(name, Object.keys(contexts));
  const hint = nearest === undefined ? 'add it with "porthole context add"' : `did you mean ${nearest}?`;
  throw new ProgramError(`no context ${JSON.stringify(name)}; ${hint}`);
}

/** Replaces the file, readable by its owner only; a reader sees the old or the new one. */
export async function writeContexts(env: NodeJS.ProcessEnv, { current, contexts }: Contexts): Promise<void> {
  const named = contextFilePath(env);
  if (named === undefined) throw new ProgramError('no place for contexts: set HOME or XDG_CONFIG_HOME');
  await mkdir(dirname(named), { recursive: true, mode: PRIVATE_DIR });
  // A link stays one: people keep their configuration elsewhere.
  const path = await realpath(named).catch((error: unknown) => {
    if (isMissing(error)) return named;
    throw error;
  });
  await replaceFile(path, `${JSON.stringify({ version: FORMAT, current, contexts }, null, 2)}\n`, { isSynced: true });
}

/** Who can write the file can send our tokens elsewhere; who can read it learns where they are. */
async function readPrivate(path: string, terminal: Pick<Terminal, 'warn'>): Promise<string | undefined> {
  try {
    const { mode, uid, size } = await stat(path);
    const own = process.getuid?.() ?? uid;
    if (uid !== own && uid !== 0) throw new ProgramError(`${path} belongs to another user; not used`);
    if (mode & WRITABLE_BY_OTHERS)
      throw new ProgramError(`${path} can be changed by other users; not used. Run: chmod 600 ${path}`);
    if (mode & READABLE_BY_OTHERS) terminal.warn(`${path} can be read by other users. Run: chmod 600 ${path}`);
    if (size > MAX_BYTES) throw new ProgramError(`${path} is not a file of contexts: larger than ${MAX_BYTES} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function parseContexts(text: string, path: string): Contexts {
  try {
    const { version, current = null, contexts } = JSON.parse(text) as { version?: unknown } & Partial<Contexts>;
    if (version !== FORMAT) throw new TypeError(`version ${JSON.stringify(version)} is not supported`);
    if (typeof contexts !== 'object' || contexts === null) throw new TypeError('it has no contexts');
    if (current !== null && typeof current !== 'string') throw new TypeError('"current" is not a name');
    for (const [name, context] of Object.entries(contexts)) checkContext(name, context);
    return { current, contexts };
  } catch (error) {
    throw new ProgramError(`cannot read the contexts in ${path}: ${errorMessage(error)}`, { cause: error });
  }
}

function checkContext(name: string, context: unknown): void {
  const fields = typeof context === 'object' && context !== null ? (context as Record<string, unknown>) : {};
  if (typeof fields.url !== 'string') throw new TypeError(`context ${JSON.stringify(name)} has no url`);
  for (const field of CONTEXT_FILES)
    if (fields[field] !== undefined && typeof fields[field] !== 'string')
      throw new TypeError(`"${field}" of context ${JSON.stringify(name)} is not a path`);
}
