import { Store } from './store.ts';

/** An action in the palette. */
export interface Action {
  /** Starts with a verb: `Copy link`. */
  name: string;
  /** Keyboard shortcut, as displayed: `f`, `Shift+Z`. */
  keys?: string;
  run: () => void;
}

/** Actions of the current pages; each page registers its own while it is mounted. */
export class Actions {
  readonly list = new Store<readonly Action[]>([]);

  /** Registers actions; the returned function removes them. */
  put(actions: readonly Action[]): () => void {
    this.list.set([...this.list.value, ...actions]);
    return () => this.list.set(this.list.value.filter((action) => !actions.includes(action)));
  }
}

export const actions = new Actions();
