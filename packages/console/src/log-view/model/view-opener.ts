import { isRetryable } from '../../state/to-problem.ts';
import type { LiveTail } from '../follow/live-tail.ts';
import type { PagePosition, ShownRecord } from '../source/log-source.ts';
import { Attempt } from './attempt.ts';
import type { ShowOptions } from './bring-into-view.ts';
import type { WorkspaceDeps } from './log-store.ts';
import type { Overview } from './overview.ts';
import type { PageLoader, ShowResult } from './page-loader.ts';

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 15_000;

export interface ViewOpenerDeps extends WorkspaceDeps {
  pages: PageLoader;
  tail: LiveTail;
  overview: Overview;
}

/** Replaces the rows of the window: by the end to follow it, or by any position. */
export class ViewOpener {
  readonly #deps: ViewOpenerDeps;
  /** Fires when something else is opened. */
  readonly #following = new Attempt();

  constructor(deps: ViewOpenerDeps) {
    this.#deps = deps;
  }

  close(): void {
    this.#following.end();
  }

  /** Shows the newest records and follows. Retries until the node responds. */
  async live(): Promise<void> {
    const { tail, store, clock } = this.#deps;
    const signal = this.#following.begin();
    tail.announce('live');
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      const result = await this.show('end', { align: 'bottom' });
      if (signal.aborted) return;
      if (result !== 'failed') break;
      if (!store.state.failure || !isRetryable(store.state.failure)) return;
      await clock.wait(waitMs, signal);
      if (signal.aborted) return;
    }
    this.#follow();
  }

  at(position: PagePosition): Promise<ShowResult> {
    if (position === 'end') return this.show(position, { align: 'bottom' });
    if (typeof position !== 'object' || !('at' in position)) return this.show(position, { align: 'top' });
    return this.show(position, { align: 'center', near: position.at, isFocused: true });
  }

  /** Keeps the record in view, or the nearest that matches the filter; without a record, shows the end. */
  async around(near: ShownRecord | undefined): Promise<void> {
    const { store } = this.#deps;
    const options: ShowOptions = {
      align: 'center',
      isFocused: store.state.focusedKey !== null,
      ...(near && { near }),
    };
    await this.reopen(async () => {
      const result = near ? await this.show({ at: near }, options) : await this.show('end', { align: 'bottom' });
      const isGone = result === 'failed' && store.state.failure?.code === 'CURSOR_GONE';
      return isGone && near?.atMs !== undefined ? this.show({ timeMs: near.atMs }, options) : result;
    });
  }

  /** Replaces the rows; if following is paused, it restarts after them with the current filter. */
  async reopen(show: () => Promise<ShowResult>): Promise<void> {
    const { tail } = this.#deps;
    const isPaused = tail.mode === 'paused';
    if (isPaused) tail.announce('paused');
    const result = await show();
    if (isPaused && result !== 'stale') this.#follow();
  }

  async show(position: PagePosition, options: ShowOptions): Promise<ShowResult> {
    const { pages, overview } = this.#deps;
    const result = await pages.show(position, options);
    if (result === 'shown') void overview.loadExtent();
    return result;
  }

  #follow(): void {
    const { tail, store } = this.#deps;
    const source = this.#deps.source();
    if (source) tail.begin(source, store.state.filter);
  }
}
