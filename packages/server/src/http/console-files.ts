import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PortholeError } from '@porthole/contract';
import type { Encoding } from './response/choose-encoding.ts';

/** A file of the console, with what the build has made of it. */
export interface ConsoleFile {
  contentType: string;
  /** Names the content, not an encoding of it. */
  hash: string;
  /** Whether its name changes with its content, so that it can be kept for good. */
  isHashed: boolean;
  plain: Buffer;
  encoded: ReadonlyMap<Encoding, Buffer>;
}

interface BuiltConsole {
  page: ConsoleFile;
  assets: ReadonlyMap<string, ConsoleFile>;
}

/** What the build puts behind the name of a file that it has compressed. */
const ENDINGS: ReadonlyMap<Encoding, string> = new Map([
  ['br', '.br'],
  ['gzip', '.gz'],
]);

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** As the build names files: `console-C5DL2DVR.js`. */
const HASHED_NAME = /-[0-9A-Z]{8}\.[a-z]+$/;

/**
 * The console as it was built. It is read into memory as a whole at the first request for it: starting costs nothing, a
 * build under a running node never mixes with the one it shows, and no name out of a request reaches the file system.
 */
export class ConsoleFiles {
  readonly #folder: string;
  #built: Promise<BuiltConsole> | undefined;

  constructor(folder: string = builtFolder()) {
    this.#folder = folder;
  }

  async page(): Promise<ConsoleFile> {
    return (await this.#read()).page;
  }

  async asset(name: string): Promise<ConsoleFile | undefined> {
    return (await this.#read()).assets.get(name);
  }

  #read(): Promise<BuiltConsole> {
    this.#built ??= readConsole(this.#folder).catch((error) => {
      this.#built = undefined; // it may be built later
      throw isMissing(error) ? notBuilt(error) : error;
    });
    return this.#built;
  }
}

/** Beside the bundle that others install; in the workspace, where its package builds it. */
function builtFolder(): string {
  const isWorkspace = /\/http\/console-files\.[jt]s$/.test(import.meta.url);
  return fileURLToPath(new URL(isWorkspace ? '../../../console/web' : './console', import.meta.url));
}

async function readConsole(folder: string): Promise<BuiltConsole> {
  const [page, assets] = await Promise.all([readBuilt(folder, 'index.html'), readAssets(join(folder, 'assets'))]);
  return { page, assets };
}

async function readAssets(folder: string): Promise<Map<string, ConsoleFile>> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile() && !isEncoded(entry.name)).map(({ name }) => name);
  return new Map(await Promise.all(names.map(async (name) => [name, await readBuilt(folder, name)] as const)));
}

function isEncoded(name: string): boolean {
  return [...ENDINGS.values()].includes(extname(name));
}

async function readBuilt(folder: string, name: string): Promise<ConsoleFile> {
  const path = join(folder, name);
  const plain = await readFile(path);
  const encoded = new Map<Encoding, Buffer>();
  for (const [encoding, ending] of ENDINGS) {
    const bytes = await readFile(`${path}${ending}`).catch(unlessMissing);
    if (bytes) encoded.set(encoding, bytes);
  }
  return {
    contentType: CONTENT_TYPES[extname(name)] ?? 'application/octet-stream',
    hash: createHash('sha256').update(plain).digest('base64url').slice(0, 22),
    isHashed: HASHED_NAME.test(name),
    plain,
    encoded,
  };
}

/** What compression did not make smaller is there only as it is. */
function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function notBuilt(cause: unknown): PortholeError {
  const message = 'this node was built without its console; all else is there: /docs lists it';
  return new PortholeError('ROUTE_NOT_FOUND', message, { cause });
}
