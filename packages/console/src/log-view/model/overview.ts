import { assertRequestFailed, toProblem } from '../../state/to-problem.ts';
import { Attempt } from './attempt.ts';
import type { WorkspaceDeps } from './log-store.ts';

/** Time budget for counting; the counts so far are shown. */
const COUNT_MS = 5000;

/** Minimum time between two requests for the extent of the log. */
const EXTENT_FRESH_MS = 15_000;

/** The log as a whole: its extent, and counts per level over time. */
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

  /** Loads the extent of the log. Without it only the scroll bar is missing. */
  async loadExtent(): Promise<void> {
    const { store, clock } = this.#deps;
    if (clock.now() - this.#extentLoadedMs < EXTENT_FRESH_MS) return;
    this.#extentLoadedMs = clock.now();
    const signal = this.#loadingExtent.begin();
    try {
      const extent = await this.#deps.source()?.extent({ signal });
      if (extent && !signal.aborted) store.dispatch({ type: 'extent-loaded', extent });
    } catch (error) {
      assertRequestFailed(error, signal);
      this.#extentLoadedMs = -Infinity; // retried with the next page
    }
  }

  async count(buckets: number): Promise<void> {
    const { store } = this.#deps;
    const signal = this.#counting.begin();
    store.dispatch({ type: 'count-started' });
    try {
      // All levels: the chips show how many records the minimum level hides.
      const { minLevel: _, ...filter } = store.state.filter;
      const request = { filter, buckets };
      const histogram = (await this.#deps.source()?.histogram(request, { signal, budgetMs: COUNT_MS })) ?? null;
      if (!signal.aborted) store.dispatch({ type: 'counted', histogram });
    } catch (error) {
      if (!signal.aborted) store.dispatch({ type: 'count-failed', detail: toProblem(error).detail });
    }
  }
}
