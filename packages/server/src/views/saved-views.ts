import { mkdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ViewKeys } from '@porthole/cluster';
import {
  errorMessage,
  MAX_VIEWS,
  PortholeError,
  type SavedViews,
  viewNameProblem,
  viewQueryProblem,
} from '@porthole/contract';
import { replaceFile } from '@porthole/logs';
import { NO_WORK, type Owned, unneeded } from '@porthole/logs/shared';
import { hasCode } from '../errors.ts';
import type { Logger } from '../own-log/own-log.ts';

const FILE = 'views.json';

const NOWHERE = 'this node keeps no saved views: its program did not set logging.dir';

/** Some times what the largest list takes. */
const MAX_FILE_BYTES = 8_000_000;

/** The longest name and query in JSON, with room for escapes. */
const MAX_ENTRY_BYTES = 32_768;

/** Deleted views are remembered, so that a member that was away does not bring them back; the oldest are forgotten. */
const MAX_DELETED = 200;

/** How long the registry is waited for: a list is rather old than late. */
const REGISTRY_MS = 2000;

/** How long a list of the registry is used again. */
const KEEP_MS = 2000;

/** No history is that long: whoever writes more wants to win against all later changes. */
const MAX_REVISION = 2 ** 40;

const MAX_WHO_CHARACTERS = 256;

/** A view, or that it was deleted. Of two with the same name, the one with the higher revision counts, on every member. */
interface Entry {
  name: string;
  /** `null`: deleted. */
  query: string | null;
  revision: number;
  changedMs: number;
  changedBy: string;
}

interface SavedViewStoreDeps {
  /** `null`: the node may not write anywhere. */
  dir: string | null;
  /** Where members share them; `null`: nowhere, `undefined`: not known yet. */
  keys(): ViewKeys | null | undefined;
  log: Logger;
}

/**
 * The views that people saved on this node: a file of its own, and with a registry the same views on all members. Each
 * member merges what the registry has with what it has itself, whenever it is asked, so that a change made while the
 * registry was away is shared later, and a registry that lost its data gets them back.
 */
export class SavedViewStore {
  readonly #deps: SavedViewStoreDeps;
  #entries: ReadonlyMap<string, Entry> | undefined;
  #problem: string | null = null;
  #sharing: SavedViews['sharing'] = 'node';
  #syncedMs = Number.NEGATIVE_INFINITY;
  #last: Owned = NO_WORK;

  constructor(deps: SavedViewStoreDeps) {
    this.#deps = deps;
  }

  list(): Promise<SavedViews> {
    return this.#inTurn(async () => {
      const entries = await this.#load();
      return this.#toResponse(performance.now() - this.#syncedMs < KEEP_MS ? entries : await this.#sync(entries));
    });
  }

  /** Without a query it is deleted. */
  change(name: string, query: string | null, changedBy: string): Promise<SavedViews> {
    return this.#inTurn(async () => {
      const entries = await this.#sync(await this.#load());
      const others = [...entries.values()].filter((other) => other.query !== null && other.name !== name);
      if (query !== null && others.length >= MAX_VIEWS)
        throw new PortholeError('PARAMETER_INVALID', `there are ${MAX_VIEWS} saved views already: delete one first`);
      const revision = 1 + Math.max(0, ...[...entries.values()].map((entry) => entry.revision));
      const who = changedBy.replace(/\p{Cc}/gu, '').slice(0, MAX_WHO_CHARACTERS);
      // clock: when views were saved
      const entry: Entry = { name, query, revision, changedMs: Date.now(), changedBy: who };
      const changed = bounded([...entries.values(), entry]);
      try {
        await this.#write(changed);
      } catch (error) {
        throw new PortholeError('VIEWS_UNAVAILABLE', `the view was not saved: ${errorMessage(error)}`);
      }
      this.#entries = changed;
      this.#deps.log.info('views', query === null ? 'a view was deleted' : 'a view was saved', { by: who });
      await this.#share([entry]);
      return this.#toResponse(changed);
    });
  }

  /** One after the other: each change is written on top of the one before. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = unneeded(result); // its failure goes to who asked
    return result;
  }

  async #load(): Promise<ReadonlyMap<string, Entry>> {
    if (this.#entries) return this.#entries;
    if (this.#deps.dir === null) throw new PortholeError('VIEWS_UNAVAILABLE', NOWHERE);
    const path = join(this.#deps.dir, FILE);
    let read: readonly unknown[] | undefined;
    try {
      read = (await stat(path)).size > MAX_FILE_BYTES ? undefined : readFileText(await readFile(path, 'utf8'));
    } catch (error) {
      if (!hasCode(error, 'ENOENT'))
        throw new PortholeError('VIEWS_UNAVAILABLE', `the saved views cannot be read: ${errorMessage(error)}`);
      read = [];
    }
    const entries = (read ?? []).flatMap((value) => toEntry(value) ?? []);
    if (!read || entries.length < read.length) {
      // Kept aside: the next change replaces the file.
      await unneeded(rename(path, `${path}.unreadable`)); // it is reported either way
      const lost = read ? `${read.length - entries.length} saved views` : 'the saved views';
      this.#problem = `${lost} of this node could not be read; the file was kept as ${FILE}.unreadable`;
      this.#deps.log.warn('views', this.#problem, { dir: this.#deps.dir });
    }
    this.#entries = bounded(entries);
    return this.#entries;
  }

  /** What the members have together. Never rejects: without the registry, what this node has. */
  async #sync(own: ReadonlyMap<string, Entry>): Promise<ReadonlyMap<string, Entry>> {
    const keys = this.#deps.keys();
    if (!keys) {
      this.#sharing = keys === null ? 'node' : 'behind';
      return own;
    }
    try {
      const signal = AbortSignal.timeout(REGISTRY_MS);
      const limits = { maxBytes: MAX_ENTRY_BYTES, maxKeys: 2 * (MAX_VIEWS + MAX_DELETED), signal };
      const shared = [...(await keys.read(limits))].flatMap(([key, value]) => {
        const entry = toEntry(parseText(Buffer.from(value).toString()));
        return entry && keyOf(entry) === key ? [entry] : [];
      });
      const merged = bounded([...own.values(), ...shared]);
      const known = new Map(shared.map((entry) => [entry.name, entry]));
      this.#sharing = 'cluster';
      this.#syncedMs = performance.now();
      await this.#share([...merged.values()].filter((entry) => !isSame(entry, known.get(entry.name))));
      if ([...merged.values()].some((entry) => !isSame(entry, own.get(entry.name)))) await this.#keep(merged);
      this.#entries = merged;
      return merged;
    } catch (error) {
      this.#fallBehind(error);
      return own;
    }
  }

  /** What members shared is shown, even if it cannot be stored here. */
  async #keep(entries: ReadonlyMap<string, Entry>): Promise<void> {
    try {
      await this.#write(entries);
    } catch (error) {
      this.#problem = `this node cannot store the saved views: ${errorMessage(error)}`;
    }
  }

  async #write(entries: ReadonlyMap<string, Entry>): Promise<void> {
    const { dir } = this.#deps;
    if (dir === null) throw new Error(NOWHERE);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const content = JSON.stringify({ type: 'porthole saved views', version: 1, views: [...entries.values()] }, null, 1);
    await replaceFile(join(dir, FILE), `${content}\n`, { isSynced: true });
  }

  async #share(entries: readonly Entry[]): Promise<void> {
    const keys = this.#deps.keys();
    if (!keys) return;
    try {
      const signal = AbortSignal.timeout(REGISTRY_MS);
      for (const entry of entries) await keys.write(keyOf(entry), JSON.stringify(entry), { signal });
    } catch (error) {
      this.#fallBehind(error);
    }
  }

  #fallBehind(error: unknown): void {
    if (this.#sharing !== 'behind')
      this.#deps.log.warn('views', `saved views are not shared with the members: ${errorMessage(error)}`);
    this.#sharing = 'behind';
    this.#syncedMs = Number.NEGATIVE_INFINITY;
  }

  #toResponse(entries: ReadonlyMap<string, Entry>): SavedViews {
    const views = [...entries.values()]
      .flatMap(({ name, query, changedMs, changedBy }) =>
        query === null ? [] : [{ name, query, changedMs, changedBy }],
      )
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    return { views, sharing: this.#sharing, problem: this.#problem };
  }
}

/** The winner of each name; of too many, the views that were there first and the deletions that were made last. */
function bounded(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  const winners = new Map<string, Entry>();
  for (const entry of entries) {
    const other = winners.get(entry.name);
    if (!other || isNewer(entry, other)) winners.set(entry.name, entry);
  }
  const byRevision = [...winners.values()].sort((a, b) => (isNewer(a, b) ? 1 : -1));
  const views = byRevision.filter(({ query }) => query !== null).slice(0, MAX_VIEWS);
  const deleted = byRevision.filter(({ query }) => query === null).slice(-MAX_DELETED);
  return new Map([...views, ...deleted].map((entry) => [entry.name, entry]));
}

/** Whatever the order in which two members see them, they agree. */
function isNewer(a: Entry, b: Entry): boolean {
  return a.revision === b.revision ? JSON.stringify(a) > JSON.stringify(b) : a.revision > b.revision;
}

function isSame(a: Entry, b: Entry | undefined): boolean {
  return b !== undefined && JSON.stringify(a) === JSON.stringify(b);
}

function keyOf({ name }: Entry): string {
  return encodeURIComponent(name);
}

/** Of the file or of another member, who may have written anything. */
function toEntry(value: unknown): Entry | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, query, revision, changedMs, changedBy } = value as Record<string, unknown>;
  if (typeof name !== 'string' || viewNameProblem(name) !== null) return undefined;
  if (query !== null && (typeof query !== 'string' || viewQueryProblem(query) !== null)) return undefined;
  if (!isCount(revision, MAX_REVISION) || !isCount(changedMs, Number.MAX_SAFE_INTEGER)) return undefined;
  if (typeof changedBy !== 'string' || changedBy.length > MAX_WHO_CHARACTERS || /\p{Cc}/u.test(changedBy))
    return undefined;
  return { name, query, revision, changedMs, changedBy };
}

function isCount(value: unknown, most: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most;
}

function readFileText(text: string): readonly unknown[] | undefined {
  const value = parseText(text);
  const views = typeof value === 'object' && value !== null && 'views' in value ? value.views : undefined;
  return Array.isArray(views) ? views : undefined;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
