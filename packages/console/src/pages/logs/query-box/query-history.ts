import { readStoredTexts, Store, tryStorage } from '../../../state/store.ts';

const KEY = 'porthole.queries';

/** More are not found by scrolling through them. */
const MAX_QUERIES = 30;

/** A longer one was pasted; it would push the others out of the storage. */
const MAX_LENGTH = 1000;

/** The last queries, newest first; kept in the browser if it allows that, otherwise until the page is closed. */
export class QueryHistory {
  readonly list: Store<readonly string[]>;
  readonly #storage: Pick<Storage, 'getItem' | 'setItem'> | undefined;

  constructor(storage: Pick<Storage, 'getItem' | 'setItem'> | undefined) {
    this.#storage = storage;
    this.list = new Store<readonly string[]>(readQueries(storage));
  }

  add(text: string): void {
    const query = text.trim();
    if (query === '' || query.length > MAX_LENGTH || query === this.list.value[0]) return;
    // Another tab may have added some.
    const stored = readQueries(this.#storage);
    const known = stored.length > 0 ? stored : this.list.value;
    const list = [query, ...known.filter((other) => other !== query)].slice(0, MAX_QUERIES);
    this.list.set(list);
    tryStorage(() => this.#storage?.setItem(KEY, JSON.stringify(list)));
  }
}

function readQueries(storage: Pick<Storage, 'getItem'> | undefined): string[] {
  return readStoredTexts(storage, KEY)
    .filter((query) => query.length <= MAX_LENGTH)
    .slice(0, MAX_QUERIES);
}

// Where storage is forbidden, even reading the property throws.
export const queryHistory = new QueryHistory(tryStorage(() => globalThis.window?.localStorage));
