import { readStoredTexts, Store, type TextStorage, tryStorage } from './store.ts';
import { isZone } from './time-zone.ts';
import type { ZoneName } from './view.ts';

export type Theme = 'system' | 'light' | 'dark';

/** Nodes forget a departure after a week, so the browser need not keep more of them. */
const MAX_DISMISSED = 100;

/** Settings of the user, kept in the browser if it allows that. */
export class Preferences {
  readonly theme: Store<Theme>;
  /** The time zone in which times are shown. */
  readonly zone: Store<ZoneName>;
  /** Single-letter shortcuts are on. */
  readonly hasKeys: Store<boolean>;
  /** Repeated lines of logs are shown as one. */
  readonly folds: Store<boolean>;
  /** Dismissed departures, newest last. */
  readonly dismissed: Store<readonly string[]>;
  /** Fields that are always among the facets of logs. */
  readonly pinned: Store<readonly string[]>;
  /** The last queries, newest first. */
  readonly queries: Store<readonly string[]>;

  constructor(storage: TextStorage | undefined) {
    this.theme = storedChoice(storage, 'theme', ['system', 'light', 'dark']);
    this.zone = storedText(storage, 'zone', 'local', isZone);
    this.hasKeys = storedSwitch(storage, 'keys');
    this.folds = storedSwitch(storage, 'folds');
    this.dismissed = storedTexts(storage, 'dismissed');
    this.pinned = storedTexts(storage, 'pinned');
    this.queries = storedTexts(storage, 'queries');
  }

  dismiss(departure: string): void {
    this.dismissed.set([...this.dismissed.value, departure].slice(-MAX_DISMISSED));
  }
}

/** On by default. */
function storedSwitch(storage: TextStorage | undefined, name: string): Store<boolean> {
  const text = storedChoice(storage, name, ['on', 'off']);
  const store = new Store(text.value === 'on');
  store.subscribe(() => text.set(store.value ? 'on' : 'off'));
  return store;
}

/** The first choice is the default. */
function storedChoice<Choice extends string>(
  storage: TextStorage | undefined,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Store<Choice> {
  return storedText(storage, name, choices[0], (text): text is Choice => choices.some((choice) => choice === text));
}

function storedTexts(storage: TextStorage | undefined, name: string): Store<readonly string[]> {
  const key = `porthole.${name}`;
  const store = new Store<readonly string[]>(readStoredTexts(storage, key));
  store.subscribe(() => tryStorage(() => storage?.setItem(key, JSON.stringify(store.value))));
  // Another tab has changed it.
  globalThis.window?.addEventListener('storage', (event) => {
    if (event.key === key) store.set(readStoredTexts(storage, key));
  });
  return store;
}

function storedText<Text extends string>(
  storage: TextStorage | undefined,
  name: string,
  fallback: Text,
  isValid: (text: string) => text is Text,
): Store<Text> {
  const key = `porthole.${name}`;
  const found = tryStorage(() => storage?.getItem(key));
  const store = new Store<Text>(typeof found === 'string' && isValid(found) ? found : fallback);
  store.subscribe(() => tryStorage(() => storage?.setItem(key, store.value)));
  return store;
}

// Where storage is forbidden, even reading the property throws.
export const preferences = new Preferences(tryStorage(() => globalThis.window?.localStorage));
