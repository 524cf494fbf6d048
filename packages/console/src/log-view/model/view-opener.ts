import type { LiveTail } from '../follow/live-tail.ts';
import type { PagePosition, ShownRecord } from '../source/log-source.ts';
import { Attempt } from './attempt.ts';
import type { ShowOptions } from './bring-into-view.ts';
import type { ShowResult } from './log-window.ts';
import type { Overview } from './overview.ts';
import { isRetryable } from './to-failure.ts';
import type { WorkspaceDeps } from './workspace-deps.ts';

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 15_000;

export interface ViewOpenerDeps extends WorkspaceDeps {
  tail: LiveTail;
  overview: Overview;
}

/** Brings other rows into the window: the end to follow it, or any place. */
export class ViewOpener {
  readonly #deps: ViewOpenerDeps;
  /** Fires when something else is to be followed. */
  readonly #following = new Attempt();

  constructor(deps: ViewOpenerDeps) {
    this.#deps = deps;
  }

  close(): void {
    this.#following.end();
  }

  /** Shows the newest and follows. A node that cannot be asked is asked again until it answers. */
  async live(): Promise<void> {
    const { tail, keeper, clock } = this.#deps;
    const signal = this.#following.begin();
    tail.announce('live');
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      const result = await this.show('end', { align: 'bottom' });
      if (signal.aborted) return;
      if (result !== 'failed') break;
      if (!isRetryable(keeper.state.failure)) return;
      await clock.wait(waitMs, signal);
      if (signal.aborted) return;
    }
    this.#follow();
  }

  at(place: PagePosition): Promise<ShowResult> {
    if (place === 'end') return this.show(place, { align: 'bottom' });
    if (typeof place !== 'object' || !('at' in place)) return this.show(place, { align: 'top' });
    return this.show(place, { align: 'center', near: place.at, isFocused: true });
  }

  /** The record stays in view, or the nearest to it that is let through; without one, it is the end. */
  async around(near: ShownRecord | undefined): Promise<void> {
    const { keeper } = this.#deps;
    const options: ShowOptions = {
      align: 'center',
      isFocused: keeper.state.focusedKey !== null,
      ...(near && { near }),
    };
    await this.reopen(async () => {
      const result = near ? await this.show({ at: near }, options) : await this.show('end', { align: 'bottom' });
      const isGone = result === 'failed' && keeper.state.failure?.code === 'CURSOR_GONE';
      return isGone && near?.atMs !== undefined ? this.show({ timeMs: near.atMs }, options) : result;
    });
  }

  /** Shows other rows; where following is paused, it begins anew behind them, with the filter there is now. */
  async reopen(show: () => Promise<ShowResult>): Promise<void> {
    const { tail } = this.#deps;
    const isPaused = tail.mode === 'paused';
    if (isPaused) tail.announce('paused');
    const result = await show();
    if (isPaused && result !== 'stale') this.#follow();
  }

  async show(place: PagePosition, options: ShowOptions): Promise<ShowResult> {
    const { window, overview } = this.#deps;
    const result = await window.show(place, options);
    if (result === 'shown') void overview.loadExtent();
    return result;
  }

  #follow(): void {
    const { tail, keeper } = this.#deps;
    const source = this.#deps.source();
    if (source) tail.begin(source, keeper.state.filter);
  }
}
