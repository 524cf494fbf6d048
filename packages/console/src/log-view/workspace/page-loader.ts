import { isRetryable, type Problem, toProblem } from '../../state/to-problem.ts';
import { addPage, failToShow, isFew, setEdge, showPages, startShowing, stopEdges } from '../model/reduce.ts';
import { type Edge, FIRST_RECORDS, type ShowOptions } from '../model/workspace-state.ts';
import { type Direction, type Page, type PagePosition, recordKey, type ShownRecord } from '../source/log-source.ts';
import type { LiveTail } from './live-tail.ts';
import {
  Attempt,
  FIRST_WAIT_MS,
  LONGEST_WAIT_MS,
  PAGE_RECORDS,
  SCAN_MS,
  SLICE_MS,
  type WorkspaceDeps,
} from './workspace-deps.ts';

/** `stale`: the rows were replaced meanwhile. */
type ShowResult = 'shown' | 'failed' | 'stale';

interface Load {
  attempt: Attempt;
  position: PagePosition | null;
}

export interface PageLoaderDeps extends Omit<WorkspaceDeps, 'rowsSignal' | 'goTo'> {
  tail: LiveTail;
  /** Called when other rows are shown. */
  onShown(): void;
}

/** Replaces the rows of the window, by the end to follow it or by any position; and loads more of them at both edges. */
export class PageLoader {
  readonly #deps: PageLoaderDeps;
  /** Identifies the current rows; responses for earlier ones are ignored. */
  readonly #showing = new Attempt();
  /** Fires when something else is opened. */
  readonly #following = new Attempt();
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
    this.#following.end();
    this.#showing.end();
    this.#cancelLoads();
  }

  /** Shows the newest records and follows. Begins again until the node responds; what breaks later, the client resumes. */
  async live(): Promise<void> {
    const { tail, store, clock } = this.#deps;
    const signal = this.#following.begin();
    tail.announce('live');
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      const result = await this.show('end', { align: 'bottom' });
      if (signal.aborted) return;
      const failure = result === 'failed' ? store.state.failure : await this.#follow();
      if (signal.aborted || failure === null) return;
      // Rows that somebody looks at stay.
      if (tail.mode !== 'live' || !isRetryable(failure)) return tail.leave(failure);
      tail.noteFailure(failure.detail);
      await clock.wait(waitMs, signal);
      if (signal.aborted) return;
    }
  }

  at(position: PagePosition): Promise<ShowResult> {
    if (position === 'end') return this.show(position, { align: 'bottom' });
    if (typeof position !== 'object' || !('at' in position)) return this.show(position, { align: 'top' });
    return this.show(position, { align: 'center', near: position.at, isFocused: true });
  }

  /** Keeps the record in view, or the nearest that matches the filter; without a record, shows the end. */
  async around(near: ShownRecord | undefined): Promise<void> {
    const { store } = this.#deps;
    const isFocused = store.state.focusedKey !== null;
    const options: ShowOptions = { align: 'center', isFocused, ...(near && { near }) };
    await this.reopen(async () => {
      const result = near ? await this.show({ at: near }, options) : await this.show('end', { align: 'bottom' });
      if (result !== 'failed' || !near) return result;
      // A place in a log without times is not found again.
      if (near.atMs === undefined) return this.show('end', { align: 'bottom' });
      return store.state.failure?.code === 'CURSOR_GONE' ? this.show({ timeMs: near.atMs }, options) : result;
    });
  }

  /** Replaces the rows; if following is paused, it restarts after them with the current filter. */
  async reopen(show: () => Promise<ShowResult>): Promise<void> {
    const { tail } = this.#deps;
    const isPaused = tail.mode === 'paused';
    if (isPaused) tail.announce('paused');
    const result = await show();
    if (!isPaused || result === 'stale') return;
    const failure = await this.#follow();
    if (failure) tail.leave(failure);
  }

  async show(position: PagePosition, options: ShowOptions): Promise<ShowResult> {
    const { store, clock, onShown } = this.#deps;
    const source = this.#deps.source();
    if (!source) return 'stale';
    this.#cancelLoads();
    const signal = this.#showing.begin();
    store.set(startShowing(position, clock.now()));
    const { filter } = store.state;
    const fetchPage = (direction: Direction) =>
      source.page({ direction, from: position, limit: FIRST_RECORDS, filter }, { signal, budgetMs: SLICE_MS });
    try {
      const [newer, older] = await Promise.all([
        position === 'end' ? null : fetchPage('newer'),
        position === 'start' ? null : fetchPage('older'),
      ]);
      if (signal.aborted) return 'stale';
      store.change(showPages, { newer, older, options });
      // Too few to fill the view. An edge that was stopped meanwhile stays so.
      if (isFew(older) && store.state.top.kind === 'more') void this.load('older');
      if (isFew(newer) && store.state.bottom.kind === 'more') void this.load('newer');
      onShown();
      return 'shown';
    } catch (error) {
      if (signal.aborted) return 'stale';
      this.#showing.end();
      this.#cancelLoads();
      store.set(failToShow(toProblem(error)));
      return 'failed';
    }
  }

  /** Requests pages at an edge until there are enough records, the log ends, or time is up. */
  async load(direction: Direction): Promise<void> {
    const { store, clock } = this.#deps;
    const { isAtEnd, filter } = store.state;
    const source = this.#deps.source();
    let from = store.state.positions[direction];
    if (!source || from === null || this.#loads.has(direction) || (direction === 'newer' && isAtEnd)) return;
    const load: Load = { attempt: new Attempt(), position: from };
    this.#loads.set(direction, load);
    const signal = AbortSignal.any([load.attempt.signal, this.#showing.signal]);
    const sinceMs = clock.now();
    let found = 0;
    let scannedBytes = 0;
    let reachedMs: number | null = null;
    const endAt = (edge: Edge) => store.change(setEdge, direction, edge);
    try {
      for (;;) {
        endAt({ kind: 'loading', sinceMs, scannedBytes, reachedMs });
        const request = { direction, from, limit: PAGE_RECORDS, filter };
        const page: Page = await source.page(request, { signal, budgetMs: SLICE_MS });
        if (signal.aborted) return;
        const { buffer } = store.state;
        from = page.next === null ? null : { page: page.next };
        scannedBytes += page.scannedBytes;
        reachedMs = page.reachedMs ?? reachedMs;
        load.position = from;
        store.change(addPage, direction, page, from);
        found += page.records.filter((record) => !buffer.has(recordKey(record))).length;
        if (from === null) return endAt({ kind: 'done', scannedBytes });
        if (found >= PAGE_RECORDS) return endAt({ kind: 'more' });
        if (clock.now() - sinceMs >= SCAN_MS) return endAt({ kind: 'stopped', scannedBytes, reachedMs });
      }
    } catch (error) {
      const { code, detail } = toProblem(error);
      if (!signal.aborted) endAt({ kind: 'failed', code, detail });
    } finally {
      if (this.#loads.get(direction) === load) this.#loads.delete(direction);
    }
  }

  /** Cancels loading at both edges; they can be continued. */
  stop(): void {
    this.#cancelLoads();
    this.#deps.store.change(stopEdges);
  }

  /** Until it is ended; returns why it cannot be followed. */
  async #follow(): Promise<Problem | null> {
    const { tail, store } = this.#deps;
    const source = this.#deps.source();
    return source ? tail.follow(source, store.state.filter) : null;
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
