import type { ClientSession, SavedViews as SharedViews } from '@porthole/client';
import {
  MAX_VIEW_NAME_CHARACTERS,
  MAX_VIEWS,
  tidyViewName,
  viewNameProblem,
  viewQueryProblem,
} from '@porthole/contract';
import { Resource } from './resource.ts';
import { session } from './session.ts';
import { parseJson, Store, type TextStorage, tryStorage } from './store.ts';
import { canFollow } from './time-range.ts';
import { toProblem } from './to-problem.ts';
import type { LogsView } from './view.ts';
import { logsProblems, logsQuery, parseLogs } from './view-url.ts';

/** A log view with a name: the query of its URL, never a whole address. */
export interface SavedView {
  name: string;
  query: string;
}

/** What a file or the storage contained. */
export interface ReadViews {
  views: SavedView[];
  /** Why each of the others was skipped, as sentences. */
  skipped: string[];
}

const KEY = 'porthole.views';

/** Unreadable content is moved here before it is replaced. */
const UNREADABLE_KEY = `${KEY}.unreadable`;

const VERSION = 1;

/** Longer than any URL that servers accept. */
const MAX_QUERY_CHARACTERS = 16_384;

/** Some times what the largest list takes. */
export const MAX_FILE_BYTES = 8_000_000;

/** Where views are kept. Each method returns what is wrong, or `null`. */
export interface ViewPlace {
  /** Adds a view, or replaces the one of this name. */
  save(name: string, view: LogsView): string | null | Promise<string | null>;
  rename(from: string, to: string): string | null | Promise<string | null>;
  remove(name: string): string | null | Promise<string | null>;
}

/** Named views, kept in the browser if it allows that. */
export class SavedViews implements ViewPlace {
  readonly list: Store<readonly SavedView[]>;
  /** Whether the browser keeps them when the page is closed. */
  readonly isKept: Store<boolean>;
  readonly #storage: TextStorage | undefined;

  constructor(storage: TextStorage | undefined) {
    this.#storage = storage;
    this.isKept = new Store(storage !== undefined && tryStorage(() => storage.getItem(KEY)) !== undefined);
    this.list = new Store<readonly SavedView[]>(this.#stored() ?? []);
  }

  /** Reads them again: another tab may have changed them. */
  reload(): void {
    this.list.set(this.#current());
  }

  save(name: string, view: LogsView): string | null {
    const saved = { name: tidyViewName(name), query: savedQuery(view) };
    const problem = viewProblem(saved);
    if (problem !== null) return problem;
    const current = this.#current();
    const others = current.filter((other) => other.name !== saved.name);
    if (others.length >= MAX_VIEWS) return `There are ${MAX_VIEWS} saved views already: delete one first`;
    const isThere = others.length < current.length;
    this.#write(isThere ? current.map((other) => (other.name === saved.name ? saved : other)) : [...others, saved]);
    return null;
  }

  rename(from: string, to: string): string | null {
    const name = tidyViewName(to);
    const current = this.#current();
    const problem = nameProblem(name) ?? (name === from ? null : nameTaken(name, current));
    if (problem !== null) return problem;
    this.#write(current.map((view) => (view.name === from ? { ...view, name } : view)));
    return null;
  }

  remove(name: string): null {
    this.#write(this.#current().filter((view) => view.name !== name));
    return null;
  }

  /** Adds views of a file; those with a name that is taken get another one. Returns the number added. */
  add(views: readonly SavedView[]): number {
    const current = this.#current();
    const next = [...current];
    for (const view of views) {
      if (next.length >= MAX_VIEWS) break;
      if (next.some(({ name, query }) => name === view.name && query === view.query)) continue;
      next.push({ ...view, name: freeName(view.name, next) });
    }
    if (next.length > current.length) this.#write(next);
    return next.length - current.length;
  }

  /** Reads the storage rather than this page: another tab may have changed them. */
  #current(): readonly SavedView[] {
    return (this.isKept.value ? this.#stored() : undefined) ?? this.list.value;
  }

  /** `undefined` if there are none that can be read. */
  #stored(): readonly SavedView[] | undefined {
    const text = tryStorage(() => this.#storage?.getItem(KEY));
    return text ? readViews(text)?.views : undefined;
  }

  #write(views: readonly SavedView[]): void {
    const isWritten = tryStorage(() => {
      if (!this.#storage) return false;
      const before = this.#storage.getItem(KEY);
      if (before && !readViews(before)) this.#storage.setItem(UNREADABLE_KEY, before);
      this.#storage.setItem(KEY, formatViews(views));
      return true;
    });
    this.isKept.set(isWritten === true);
    this.list.set(views);
  }
}

/** The query of a view to return to: without the position in the log. */
export function savedQuery(view: LogsView): string {
  const isLive = view.range?.kind === 'fixed' ? view.isLive && canFollow(view.range) : true;
  return logsQuery({ ...view, at: null, timeMs: null, isPlain: false, isLive }).toString();
}

/** The view of a query. Whatever is not a parameter of the log view is ignored. */
export function openSaved({ query }: SavedView): LogsView {
  return parseLogs(new URLSearchParams(query));
}

export function formatViews(views: readonly SavedView[]): string {
  return JSON.stringify({ type: 'porthole saved views', version: VERSION, views }, null, 1);
}

/** Reads such a content, of whatever origin; `undefined` if it is none. */
export function readViews(text: string): ReadViews | undefined {
  const { version, views } = (parseJson(text) ?? {}) as Record<string, unknown>;
  if (version !== VERSION || !Array.isArray(views)) return undefined;
  const read: ReadViews = { views: [], skipped: [] };
  for (const [index, value] of (views as unknown[]).entries()) {
    const view = toView(value);
    const problem =
      view === undefined
        ? 'not a view'
        : read.views.length >= MAX_VIEWS
          ? `there are more than ${MAX_VIEWS}`
          : (viewProblem(view) ?? (nameTaken(view.name, read.views) && 'the name occurs twice'));
    if (view && problem === null) read.views.push(view);
    else read.skipped.push(`${view?.name || `view ${index + 1}`}: ${problem}`);
  }
  return read;
}

function nameTaken(name: string, views: readonly SavedView[]): string | null {
  return views.some((other) => other.name === name) ? `There is already a view named "${name}"` : null;
}

/** Only its name and its query: nothing else of a file is kept. */
function toView(value: unknown): SavedView | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, query } = value as Record<string, unknown>;
  return typeof name === 'string' && typeof query === 'string' ? { name: tidyViewName(name), query } : undefined;
}

function viewProblem({ name, query }: SavedView): string | null {
  if (query.length > MAX_QUERY_CHARACTERS) return `its query is longer than ${MAX_QUERY_CHARACTERS} characters`;
  return nameProblem(name) ?? logsProblems(new URLSearchParams(query))[0] ?? null;
}

function nameProblem(name: string): string | null {
  if (name === '') return 'Enter a name';
  return name.length > MAX_VIEW_NAME_CHARACTERS
    ? `The name has more than ${MAX_VIEW_NAME_CHARACTERS} characters`
    : null;
}

function freeName(name: string, views: readonly SavedView[]): string {
  const isTaken = (candidate: string) => views.some((other) => other.name === candidate);
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : ` (${number})`;
    const candidate = name.slice(0, MAX_VIEW_NAME_CHARACTERS - suffix.length) + suffix;
    if (!isTaken(candidate)) return candidate;
  }
}

// Where storage is forbidden, even reading the property throws.
export const savedViews = new SavedViews(tryStorage(() => globalThis.window?.localStorage));

/** Those on the node, which everybody reads who reads its logs; loaded where they are shown. */
export const nodeViews = new Resource<SharedViews>((signal) => session.client.views({ signal }), { everyMs: 10_000 });

/** Who the user is to the node; loaded where it is shown. */
export const whoAmI = new Resource<ClientSession>((signal) => session.client.session({ signal }), { everyMs: 60_000 });

export const allViews = new Store<readonly SavedView[]>(savedViews.list.value);

const joinViews = () => allViews.set([...(nodeViews.state.value.value?.views ?? []), ...savedViews.list.value]);
nodeViews.state.subscribe(joinViews);
savedViews.list.subscribe(joinViews);

export const onNode: ViewPlace = {
  save(given, view) {
    const name = tidyViewName(given);
    const query = savedQuery(view);
    const problem = nameProblem(name) ?? viewNameProblem(name) ?? viewQueryProblem(query);
    return problem ?? changeOnNode(() => session.client.saveView(name, query));
  },
  rename(from, to) {
    const name = tidyViewName(to);
    const views = nodeViews.state.value.value?.views ?? [];
    const query = views.find((view) => view.name === from)?.query;
    if (name === from || query === undefined) return null;
    const problem = nameProblem(name) ?? viewNameProblem(name) ?? nameTaken(name, views);
    return (
      problem ??
      changeOnNode(async () => {
        await session.client.saveView(name, query);
        await session.client.deleteView(from);
      })
    );
  },
  remove: (name) => changeOnNode(() => session.client.deleteView(name)),
};

async function changeOnNode(change: () => Promise<unknown>): Promise<string | null> {
  try {
    await change();
    return null;
  } catch (thrown) {
    const { code, detail } = toProblem(thrown);
    return code === 'FORBIDDEN' ? 'You may not change views on the node: this needs the role "config"' : detail;
  } finally {
    nodeViews.reload();
  }
}
