import { Attempt } from './attempt.ts';
import type { ShowOptions } from './bring-into-view.ts';
import { mayRetry } from './failure-of.ts';
import type { LiveTail } from './live-tail.ts';
import type { Place, ShownRecord } from './log-source.ts';
import type { ShowResult } from './log-window.ts';
import type { Overview } from './overview.ts';
import type { WorkspaceParts } from './workspace-parts.ts';

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 15_000;

export interface OpeningParts extends WorkspaceParts {
  tail: LiveTail;
  overview: Overview;
}

/** Brings other rows into the window: the end to follow it, or any place. */
export class Opening {
  readonly #parts: OpeningParts;
  /** Fires when something else is to be followed. */
  readonly #following = new Attempt();

  constructor(parts: OpeningParts) {
    this.#parts = parts;
  }

  close(): void {
    this.#following.end();
  }

  /** Shows the newest and follows. A node that cannot be asked is asked again until it answers. */
  async live(): Promise<void> {
    const { tail, keeper, clock } = this.#parts;
    const signal = this.#following.begin();
    tail.announce('live');
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      const result = await this.show('end', { align: 'bottom' });
      if (signal.aborted) return;
      if (result !== 'failed') break;
      if (!mayRetry(keeper.state.failure)) return;
      await clock.wait(waitMs, signal);
      if (signal.aborted) return;
    }
    this.#follow();
  }

  at(place: Place): Promise<ShowResult> {
    if (place === 'end') return this.show(place, { align: 'bottom' });
    if (typeof place !== 'object' || !('at' in place)) return this.show(place, { align: 'top' });
    return this.show(place, { align: 'center', near: place.at, isFocused: true });
  }

  /** The record stays in view, or the nearest to it that is let through; without one, it is the end. */
  async around(near: ShownRecord | undefined): Promise<void> {
    const { keeper } = this.#parts;
    const options: ShowOptions = {
      align: 'center',
      isFocused: keeper.state.focusedKey !== null,
      ...(near && { near }),
    };
    await this.anew(async () => {
      const result = near ? await this.show({ at: near }, options) : await this.show('end', { align: 'bottom' });
      const isGone = result === 'failed' && keeper.state.failure?.code === 'CURSOR_GONE';
      return isGone && near?.atMs !== undefined ? this.show({ timeMs: near.atMs }, options) : result;
    });
  }

  /** Shows other rows; where following is paused, it begins anew behind them, with the filter there is now. */
  async anew(show: () => Promise<ShowResult>): Promise<void> {
    const { tail } = this.#parts;
    const isPaused = tail.mode === 'paused';
    if (isPaused) tail.announce('paused');
    const result = await show();
    if (isPaused && result !== 'stale') this.#follow();
  }

  async show(place: Place, options: ShowOptions): Promise<ShowResult> {
    const { window, overview } = this.#parts;
    const result = await window.show(place, options);
    if (result === 'shown') void overview.look();
    return result;
  }

  #follow(): void {
    const { tail, keeper } = this.#parts;
    const source = this.#parts.source();
    if (source) tail.begin(source, keeper.state.filter);
  }
}
