import { toProblem } from '../../state/to-problem.ts';
import { type LogSource, type PagePosition, recordKey } from '../source/log-source.ts';
import { Attempt } from './attempt.ts';
import type { ShowOptions } from './bring-into-view.ts';
import { FIRST_RECORDS, loadPages, PAGE_RECORDS, SLICE_MS } from './load-pages.ts';
import type { Direction } from './log-state.ts';
import type { LogStore } from './log-store.ts';
import { isFew } from './reduce-pages.ts';
import type { WorkspaceClock } from './workspace-clock.ts';

/** `stale`: the rows were replaced meanwhile. */
export type ShowResult = 'shown' | 'failed' | 'stale';

interface Load {
  attempt: Attempt;
  /** Where it continues. */
  position: PagePosition | null;
}

export interface PageLoaderDeps {
  store: LogStore;
  clock: WorkspaceClock;
  source(): LogSource | undefined;
}

/** Requests the rows around a position, and more of them at both edges. */
export class PageLoader {
  readonly #deps: PageLoaderDeps;
  /** Identifies the current rows; responses for earlier ones are ignored. */
  readonly #showing = new Attempt();
  readonly #loads = new Map<Direction, Load>();

  constructor(deps: PageLoaderDeps) {
    this.#deps = deps;
    deps.store.subscribe(() => this.#cancelOutdated());
  }

  /** Fires when the rows are replaced. */
  get signal(): AbortSignal {
    return this.#showing.signal;
  }

  close(): void {
    this.#showing.end();
    this.#cancelLoads();
  }

  /** Replaces all rows. */
  async show(position: PagePosition, options: ShowOptions): Promise<ShowResult> {
    const { store, clock } = this.#deps;
    const source = this.#deps.source();
    if (!source) return 'stale';
    this.close();
    const signal = this.#showing.begin();
    store.dispatch({ type: 'show-started', position, nowMs: clock.now() });
    const { filter } = store.state;
    const fetchPage = (direction: Direction) =>
      source.page({ direction, from: position, limit: FIRST_RECORDS, filter }, { signal, budgetMs: SLICE_MS });
    try {
      const [newer, older] = await Promise.all([
        position === 'end' ? null : fetchPage('newer'),
        position === 'start' ? null : fetchPage('older'),
      ]);
      if (signal.aborted) return 'stale';
      store.dispatch({ type: 'shown', newer, older, options });
      // Too few to fill the view. An edge that was stopped meanwhile stays so.
      if (isFew(older) && store.state.top.kind === 'more') this.load('older');
      if (isFew(newer) && store.state.bottom.kind === 'more') this.load('newer');
      return 'shown';
    } catch (error) {
      if (signal.aborted) return 'stale';
      this.close();
      store.dispatch({ type: 'show-failed', failure: toProblem(error) });
      return 'failed';
    }
  }

  load(direction: Direction): void {
    const { store, clock } = this.#deps;
    const { positions, isAtEnd, filter } = store.state;
    const from = positions[direction];
    const source = this.#deps.source();
    if (!source || from === null || this.#loads.has(direction) || (direction === 'newer' && isAtEnd)) return;
    const load: Load = { attempt: new Attempt(), position: from };
    this.#loads.set(direction, load);
    const run = loadPages({
      source,
      clock,
      filter,
      direction,
      from,
      wanted: PAGE_RECORDS,
      signal: AbortSignal.any([load.attempt.signal, this.#showing.signal]),
      onPage: (page, next) => {
        const { buffer } = store.state;
        load.position = next;
        store.dispatch({ type: 'page-loaded', direction, page, next });
        return page.records.filter((record) => !buffer.has(recordKey(record))).length;
      },
      onEdge: (edge) => store.dispatch({ type: 'edge-changed', direction, edge }),
    });
    void run.finally(() => {
      if (this.#loads.get(direction) === load) this.#loads.delete(direction);
    });
  }

  /** Cancels loading at both edges; they can be continued. */
  stop(): void {
    this.#cancelLoads();
    this.#deps.store.dispatch({ type: 'loading-stopped' });
  }

  #cancelLoads(): void {
    for (const { attempt } of this.#loads.values()) attempt.end();
    this.#loads.clear();
  }

  /** Rows were dropped at the edge of a load: it would continue at the wrong position. */
  #cancelOutdated(): void {
    for (const [direction, { attempt, position }] of this.#loads) {
      if (this.#deps.store.state.positions[direction] === position) continue;
      attempt.end();
      this.#loads.delete(direction);
    }
  }
}
