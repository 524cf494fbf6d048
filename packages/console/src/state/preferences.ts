import { Store } from './store.ts';
import type { ZoneName } from './view.ts';

export type Theme = 'system' | 'light' | 'dark';

const DISMISSED_KEY = 'porthole.dismissed';

/** Nodes forget a departure after a week; a browser need not remember more of them than that. */
const MAX_DISMISSED = 100;

type PreferenceStorage = Pick<Storage, 'getItem' | 'setItem'>;

/** What a user wants of every page, kept in the browser where it allows that. */
export class Preferences {
  readonly theme: Store<Theme>;
  /** Whose times are shown. */
  readonly zone: Store<ZoneName>;
  /** Single keys do something. */
  readonly hasKeys: Store<boolean>;
  /** Departures of nodes that need not be shown any more, newest last. */
  readonly dismissed: Store<readonly string[]>;

  constructor(storage: PreferenceStorage | undefined) {
    this.theme = storedChoice(storage, 'theme', ['system', 'light', 'dark']);
    this.zone = storedChoice(storage, 'zone', ['local', 'utc']);
    const keys = storedChoice(storage, 'keys', ['on', 'off']);
    this.hasKeys = new Store(keys.value === 'on');
    this.hasKeys.subscribe(() => keys.set(this.hasKeys.value ? 'on' : 'off'));
    this.dismissed = new Store(readList(tryStorage(() => storage?.getItem(DISMISSED_KEY))));
    this.dismissed.subscribe(() =>
      tryStorage(() => storage?.setItem(DISMISSED_KEY, JSON.stringify(this.dismissed.value))),
    );
  }

  dismiss(departure: string): void {
    this.dismissed.set([...this.dismissed.value, departure].slice(-MAX_DISMISSED));
  }
}

/** The first choice is the usual one. */
function storedChoice<Choice extends string>(
  shelf: PreferenceStorage | undefined,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Store<Choice> {
  const key = `porthole.${name}`;
  const found = tryStorage(() => shelf?.getItem(key));
  const store = new Store<Choice>(choices.find((choice) => choice === found) ?? choices[0]);
  store.subscribe(() => tryStorage(() => shelf?.setItem(key, store.value)));
  return store;
}

function readList(text: string | null | undefined): string[] {
  const value = tryStorage(() => JSON.parse(text ?? '[]') as unknown);
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Storage may be full, or forbidden: then a choice lasts as long as the page. */
function tryStorage<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

// Where it is forbidden even the name throws.
export const preferences = new Preferences(tryStorage(() => globalThis.window?.localStorage));
