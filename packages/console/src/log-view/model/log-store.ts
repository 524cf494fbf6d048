import type { LogSource, ShownRecord } from '../source/log-source.ts';
import { INITIAL, type LogAction, type LogState } from './log-state.ts';
import { reduce } from './reduce.ts';
import type { WorkspaceClock } from './workspace-clock.ts';

/** The state of a workspace. Only actions change it; subscribers are notified of every change at once. */
export class LogStore {
  #state = INITIAL;
  readonly #listeners = new Set<() => void>();

  get state(): LogState {
    return this.#state;
  }

  dispatch(action: LogAction): void {
    const next = reduce(this.#state, action);
    if (next === this.#state) return;
    this.#state = next;
    for (const listener of [...this.#listeners]) listener();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}

/** Shared by the parts of a workspace that send requests. */
export interface WorkspaceDeps {
  store: LogStore;
  clock: WorkspaceClock;
  source(): LogSource | undefined;
  /** Fires when the rows are replaced. */
  rowsSignal(): AbortSignal;
  /** Brings a record into view and focuses it; resolves when it is shown, or something else is. */
  goTo(record: ShownRecord): Promise<void>;
}
