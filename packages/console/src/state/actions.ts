import { Store } from './store.ts';

/** Something that can be done now, as the palette lists it. */
export interface Action {
  /** Begins with a verb: `Copy link`. */
  name: string;
  /** The keys that do the same, as they are shown: `f`, `Shift+Z`. */
  keys?: string;
  run: () => void;
}

/** What the pages on screen can do; each puts its own while it is shown. */
export class Actions {
  readonly list = new Store<readonly Action[]>([]);

  /** They can be chosen until what is returned is called. */
  put(actions: readonly Action[]): () => void {
    this.list.set([...this.list.value, ...actions]);
    return () => this.list.set(this.list.value.filter((action) => !actions.includes(action)));
  }
}

export const actions = new Actions();
