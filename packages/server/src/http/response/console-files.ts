import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PortholeError } from '@porthole/contract';
import { packageFile } from '@porthole/logs';
import { KEPT, Shared } from '@porthole/logs/shared';
import { hasCode } from '../../errors.ts';
import { HttpRefusal } from './problem-response.ts';
import { type BodyResponse, evaluateConditions } from './route-response.ts';

/** A file of the console, with the compressed variants from the build. */
interface ConsoleFile {
  contentType: string;
  /** Hash of the content, independent of the encoding. */
  hash: string;
  /** Whether its name contains a hash of its content, so that it can be cached forever. */
  isHashed: boolean;
  plain: Buffer;
  encoded: ReadonlyMap<Encoding, Buffer>;
}

interface BuiltConsole {
  page: ConsoleFile;
  /** URLs of scripts by how the paths of their pages begin. */
  scripts: readonly [path: string, urls: string[]][];
  assets: ReadonlyMap<string, ConsoleFile>;
}

/** Endings of compressed files. */
const ENDINGS: ReadonlyMap<Encoding, string> = new Map([
  ['br', '.br'],
  ['gzip', '.gz'],
]);

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** As the build names files: `console-C5DL2DVR.js`. */
const HASHED_NAME = /-[0-9A-Z]{8}\.[a-z0-9]+$/;

/** What differs between nodes in the page of the console. */
interface PageOptions {
  /** Where a demo runs. */
  demoUrl?: string | undefined;
  /** The path the node is mounted at. */
  basePath?: string | undefined;
}

/**
 * The built console. All of it is read into memory at the first request: this costs nothing at start, a rebuild never
 * mixes with what a running node serves, and no name from a request reaches the file system.
 */
export class ConsoleFiles {
  readonly #folder: string | undefined;
  readonly #pageOptions: PageOptions;
  readonly #built = new Shared<BuiltConsole>(KEPT); // after a failure it may be built later

  constructor({ folder, ...pageOptions }: PageOptions & { folder?: string } = {}) {
    this.#folder = folder;
    this.#pageOptions = pageOptions;
  }

  async page(): Promise<ConsoleFile> {
    return (await this.#read()).page;
  }

  /** The scripts of the page at a path: a browser that is told can load them before it has read any. */
  async scriptsOf(path: string): Promise<readonly string[]> {
    const { scripts } = await this.#read();
    const found = scripts.filter(([begin]) => (begin === '/' ? path === begin : path.startsWith(begin)));
    return found.at(-1)?.[1] ?? [];
  }

  async asset(name: string): Promise<ConsoleFile | undefined> {
    return (await this.#read()).assets.get(name);
  }

  #read(): Promise<BuiltConsole> {
    return this.#built.run(() =>
      readConsole(this.#folder ?? builtFolder(), this.#pageOptions).catch((error) => {
        throw hasCode(error, 'ENOENT') ? notBuilt(error) : error;
      }),
    );
  }
}

/** Next to the bundle, which the workspace builds, too. */
function builtFolder(moduleUrl: string | undefined = import.meta.url): string {
  return fileURLToPath(new URL('.', packageFile('./console/index.html', moduleUrl)));
}

async function readConsole(folder: string, options: PageOptions): Promise<BuiltConsole> {
  const [page, assets] = await Promise.all([readBuilt(folder, 'index.html'), readAssets(join(folder, 'assets'))]);
  const scripts = readScripts(page.plain.toString(), options.basePath);
  return { page: adaptPage(page, options), scripts, assets };
}

/** The build lists them in the page: `/logs part-A.js part-B.js;/config part-C.js`. */
function readScripts(page: string, basePath = ''): [path: string, urls: string[]][] {
  const [, list = ''] = /<meta name="porthole-scripts" content="([^"]*)">/.exec(page) ?? [];
  return list.split(';').map((entry) => {
    const [path = '', ...names] = entry.split(' ');
    return [path, names.map((name) => `${basePath}/assets/${name}`)];
  });
}

/** The page with what its script has to know, and its links below the base path. It is small: compression would gain nothing. */
function adaptPage(page: ConsoleFile, { demoUrl, basePath = '' }: PageOptions): ConsoleFile {
  if (demoUrl === undefined && basePath === '') return page;
  const tags = [
    ...(basePath === '' ? [] : [`<meta name="porthole-base" content="${basePath}">`]),
    ...(demoUrl === undefined
      ? []
      : [`<meta name="porthole-demo" content="${new URL(demoUrl).href.replaceAll('"', '%22')}">`]),
  ];
  const text = page.plain
    .toString()
    .replace(/(?<= (?:href|src)=")(?=\/)/g, () => basePath)
    .replace('</head>', () => `${tags.join('\n')}\n</head>`);
  const plain = Buffer.from(text);
  return { ...page, plain, hash: hashBytes(plain), encoded: new Map() };
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
    hash: hashBytes(plain),
    isHashed: HASHED_NAME.test(name),
    plain,
    encoded,
  };
}

function hashBytes(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
}

/** Files that compression did not make smaller have no compressed variant. */
function unlessMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
}

function notBuilt(cause: unknown): PortholeError {
  const message = 'this node was built without the console; see /docs for the API';
  return new PortholeError('ROUTE_NOT_FOUND', message, { cause });
}

/** One year, the usual value for content that never changes. */
const FOR_GOOD = 'public, max-age=31536000, immutable';

/** A file of the console in an encoding that the client accepts, or 304. */
export function consoleResponse(
  file: ConsoleFile,
  requestHeaders: IncomingHttpHeaders,
  extra: OutgoingHttpHeaders = {},
): BodyResponse {
  const encoding = chooseEncoding(requestHeaders['accept-encoding'], [...file.encoded.keys()]);
  // A strong tag names bytes, and those differ by encoding (RFC 9110, 8.8.3.3).
  const etag = `"${encoding ? `${file.hash}-${encoding}` : file.hash}"`;
  const headers = {
    ...extra,
    etag,
    'cache-control': file.isHashed ? FOR_GOOD : 'no-cache',
    vary: 'Accept-Encoding',
  };
  const verdict = evaluateConditions(requestHeaders, { etag, modifiedMs: Number.NaN });
  if (verdict === 'failed')
    throw new HttpRefusal(
      'PRECONDITION_FAILED',
      'console asset not found (the page is from another version; reload)',
      {},
    );
  if (verdict === 'not-modified') return { status: 304, headers, body: '' };
  return {
    status: 200,
    headers: { ...headers, 'content-type': file.contentType, ...(encoding && { 'content-encoding': encoding }) },
    body: (encoding && file.encoded.get(encoding)) ?? file.plain,
  };
}

/** Supported content encodings. */
type Encoding = 'br' | 'gzip';

/**
 * The available encoding that an `Accept-Encoding` header prefers; the first one of equals. `undefined`: identity, also for
 * a header that accepts nothing at all.
 */
export function chooseEncoding<Name extends string>(
  header: string | undefined,
  available: readonly Name[],
): Name | undefined {
  const weights = parseWeights(header ?? '');
  const getWeight = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  const best = Math.max(0, ...available.map(getWeight));
  // Identity is acceptable without being named, but then never preferred.
  const plain = weights.get('identity') ?? 0;
  return best > 0 && best >= plain ? available.find((encoding) => getWeight(encoding) === best) : undefined;
}

/** Invalid parts are ignored. */
function parseWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [, coding, weight = '1'] = /^\s*([a-z0-9*-]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/.exec(part) ?? [];
    if (coding !== undefined) weights.set(coding, Math.min(1, Number(weight)));
  }
  return weights;
}
