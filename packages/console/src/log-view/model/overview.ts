import { Attempt } from './attempt.ts';
import { toFailure } from './to-failure.ts';
import type { WorkspaceDeps } from './workspace-deps.ts';

/** Counting may take so long; what was counted by then is shown. */
const COUNT_MS = 5000;

/** How far the log reaches is looked up again so often at most. */
const EXTENT_FRESH_MS = 15_000;

/** The log as a whole: how far it reaches, and how many records of each level are when. */
export class Overview {
  readonly #deps: WorkspaceDeps;
  readonly #loadingExtent = new Attempt();
  readonly #counting = new Attempt();
  #extentLoadedMs = -Infinity;

  constructor(deps: WorkspaceDeps) {
    this.#deps = deps;
  }

  close(): void {
    this.#loadingExtent.end();
    this.#counting.end();
    this.#extentLoadedMs = -Infinity;
  }

  /** How far the log reaches. Without it, nothing is missing but the scroll bar. */
  async loadExtent(): Promise<void> {
    const { keeper, clock } = this.#deps;
    if (clock.now() - this.#extentLoadedMs < EXTENT_FRESH_MS) return;
    this.#extentLoadedMs = clock.now();
    const signal = this.#loadingExtent.begin();
    try {
      const extent = await this.#deps.source()?.extent({ signal });
      if (extent && !signal.aborted) keeper.change({ extent });
    } catch {
      this.#extentLoadedMs = -Infinity; // with the next page it is asked for again
    }
  }

  async count(buckets: number): Promise<void> {
    const { keeper } = this.#deps;
    const signal = this.#counting.begin();
    keeper.change({ isCounting: true, countFailure: null });
    try {
      // All levels: the chips tell how many the least one hides.
      const { minLevel: _, ...filter } = keeper.state.filter;
      const request = { filter, buckets };
      const histogram = (await this.#deps.source()?.histogram(request, { signal, budgetMs: COUNT_MS })) ?? null;
      if (signal.aborted) return;
      const members = keeper.membersAfter('count', histogram?.members ?? []);
      keeper.change({ histogram, members, isCounting: false });
    } catch (error) {
      // What was counted before may be of another filter, or long ago.
      if (!signal.aborted) keeper.change({ isCounting: false, histogram: null, countFailure: toFailure(error).detail });
    }
  }
}
