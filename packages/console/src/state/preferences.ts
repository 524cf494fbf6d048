import { listen } from './listen.ts';
import { parseTexts, Store, type TextStorage, tryStorage } from './store.ts';
import { isZone } from './time-zone.ts';
import type { ZoneName } from './view.ts';

const THEMES = ['system', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];

/** Nodes forget a departure after a week, so the browser need not keep more of them. */
const MAX_DISMISSED = 100;

/** Settings of the user, kept in the browser if it allows that. */
export class Preferences {
  readonly theme: Store<Theme>;
  readonly zone: Store<ZoneName>;
  /** Single-letter shortcuts are on. */
  readonly hasKeys: Store<boolean>;
  /** Repeated lines of logs are shown as one. */
  readonly folds: Store<boolean>;
  /** Dismissed departures, newest last. */
  readonly dismissed: Store<readonly string[]>;
  readonly pinned: Store<readonly string[]>;
  readonly queries: Store<readonly string[]>;

  constructor(storage: TextStorage | undefined) {
    const isOn = { read: (text: string) => text !== 'off', write: (value: boolean) => (value ? 'on' : 'off') };
    const texts = { read: parseTexts, write: (value: readonly string[]) => JSON.stringify(value) };
    this.theme = stored(storage, 'theme', { read: (text) => THEMES.find((theme) => theme === text) ?? 'system' });
    this.zone = stored(storage, 'zone', { read: (text) => (isZone(text) ? text : 'local') });
    this.hasKeys = stored(storage, 'keys', isOn);
    this.folds = stored(storage, 'folds', isOn);
    this.dismissed = stored(storage, 'dismissed', texts);
    this.pinned = stored(storage, 'pinned', texts);
    this.queries = stored(storage, 'queries', texts);
  }

  dismiss(departure: string): void {
    this.dismissed.set([...this.dismissed.value, departure].slice(-MAX_DISMISSED));
  }
}

/** A setting that is written when it changes, and read when another tab has changed it. Nothing stored is an empty text. */
function stored<Value>(
  storage: TextStorage | undefined,
  name: string,
  { read, write = String }: { read: (text: string) => Value; write?: (value: Value) => string },
): Store<Value> {
  const key = `porthole.${name}`;
  const load = () => read(tryStorage(() => storage?.getItem(key)) ?? '');
  const store = new Store<Value>(load());
  store.subscribe(() => tryStorage(() => storage?.setItem(key, write(store.value))));
  listen<StorageEvent>(globalThis.window, 'storage', (event) => event.key === key && store.set(load()));
  return store;
}

// Where storage is forbidden, even reading the property throws.
export const preferences = new Preferences(tryStorage(() => globalThis.window?.localStorage));
