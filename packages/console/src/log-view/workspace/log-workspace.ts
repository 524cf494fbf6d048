import type { Level } from '@porthole/client';
import { KEPT, Shared } from '@porthole/logs/shared';
import { assertRequestFailed, toProblem } from '../../state/to-problem.ts';
import { shownIndex } from '../model/fold-rows.ts';
import { closeContext, fillGap, insertAround, opened, reportMembers, toggled, updateGap } from '../model/reduce.ts';
import {
  type Edge,
  FIND_NOTHING,
  type FindQuery,
  NO_SCANS,
  type ShowOptions,
  type WorkspaceState,
} from '../model/workspace-state.ts';
import {
  type Direction,
  type LogSource,
  type PagePosition,
  type RowFilter,
  recordKey,
  type ShownRecord,
} from '../source/log-source.ts';
import type { Finder } from './finder.ts';
import { LiveTail } from './live-tail.ts';
import { PageLoader } from './page-loader.ts';
import {
  Attempt,
  LogStore,
  PAGE_CLOCK,
  PAGE_RECORDS,
  SLICE_MS,
  type WorkspaceClock,
  type WorkspaceDeps,
} from './workspace-deps.ts';

/** Records of the context of a record shown on each side. */
const CONTEXT_RECORDS = 10;

/** Records requested for it: with merged nodes some fall on the other side, or are uncertain. */
const REQUESTED_RECORDS = 60;

/** Time budget for counting; the counts so far are shown. */
const COUNT_MS = 5000;

/** Minimum time between two requests for the extent of the log. */
const EXTENT_FRESH_MS = 15_000;

export interface OpenWorkspace {
  source: LogSource;
  filter: RowFilter;
  find: FindQuery | null;
  /** The first position shown; ignored when following. */
  start: PagePosition;
  isLive: boolean;
}

/**
 * The log workspace without its view: rows, edges, following, finding. Can be opened repeatedly and is closed once.
 * Subscribers are notified of every change, at most once per frame while following.
 */
export class LogWorkspace {
  readonly #store = new LogStore();
  readonly #clock: WorkspaceClock;
  readonly #deps: Pick<WorkspaceDeps, 'store' | 'clock' | 'source'>;
  readonly #pages: PageLoader;
  readonly #tail: LiveTail;
  /** Loaded with the first search: most views need none. */
  #finder: Finder | undefined;
  readonly #loadingFinder = new Shared<Finder>(KEPT);
  readonly #loadingContext = new Attempt();
  readonly #loadingExtent = new Attempt();
  readonly #counting = new Attempt();
  /** A filter that is validated before it is used. */
  readonly #regexCheck = new Attempt();
  #extentLoadedMs = -Infinity;
  #setup: OpenWorkspace | undefined;

  constructor({ clock = PAGE_CLOCK }: { clock?: WorkspaceClock } = {}) {
    this.#deps = { store: this.#store, clock, source: () => this.#setup?.source };
    this.#clock = clock;
    this.#tail = new LiveTail(this.#deps);
    this.#pages = new PageLoader({ ...this.#deps, tail: this.#tail, onShown: () => void this.#loadExtent() });
  }

  get state(): WorkspaceState {
    return this.#store.state;
  }

  subscribe(listener: () => void): () => void {
    return this.#store.subscribe(listener);
  }

  /** Opens other sources or another position; cancels what is running. */
  open(setup: OpenWorkspace): void {
    this.close();
    this.#setup = setup;
    this.#store.change(opened, setup.filter);
    this.#setQuery(setup.find);
    if (setup.isLive && !isClosed(setup.filter)) void this.#pages.live();
    else void this.#pages.at(setup.start);
  }

  close(): void {
    for (const attempt of [this.#regexCheck, this.#loadingExtent, this.#counting]) attempt.end();
    this.#extentLoadedMs = -Infinity;
    this.#pages.close();
    this.#tail.end();
    this.#finder?.close();
    this.#setup = undefined;
  }

  /** Called when rows near an edge come into view. No effect while the edge is loading or done. */
  loadMore(direction: Direction): void {
    const edge = direction === 'older' ? this.state.top : this.state.bottom;
    if (edge.kind === 'more') void this.#pages.load(direction);
  }

  /** Stops loading at both edges; they become `stopped`. */
  stopLoading(): void {
    this.#pages.stop();
    this.#finder?.stop();
  }

  /** Continues after `stopped` or `failed`, and retries members that did not respond. */
  retry(): void {
    const { failure, members, top, bottom } = this.state;
    if (failure) this.#reopen();
    const isOpenAgain = ({ kind }: Edge) => kind === 'stopped' || kind === 'failed';
    if (isOpenAgain(top)) void this.#pages.load('older');
    if (isOpenAgain(bottom)) void this.#pages.load('newer');
    if (failure || members.every(({ outcome }) => outcome === 'ok')) return;
    if (this.#tail.mode === 'live') void this.#pages.live();
    else void this.#pages.around(this.#recordInView());
  }

  /** Goes to a position and stops following. */
  jump(position: PagePosition): void {
    this.#tail.pause();
    const key = typeof position === 'object' && 'at' in position ? position.at : undefined;
    if (key && this.state.buffer.has(recordKey(key))) this.#bringIntoView(recordKey(key));
    else void this.#pages.at(position);
  }

  pause(): void {
    this.#tail.pause();
  }

  /** Goes to the end and shows what arrived meanwhile. */
  resume(): void {
    if (isClosed(this.state.filter)) return;
    this.#closeContext();
    if (!this.#tail.resume()) void this.#pages.live();
  }

  focus(key: string | null): void {
    if (key !== null && this.state.buffer.get(key)?.kind === 'record') this.#tail.pause();
    if (this.state.focusedKey === key) return;
    // The focus moved for another reason than a step to a match.
    this.#store.set({ focusedKey: key, find: { ...this.state.find, index: null } });
  }

  /** Moves by this many records; pauses. Without a focus, the first step goes to the record that was brought into view. */
  moveFocus(by: number): void {
    this.#tail.pause();
    const { shown: rows, focusedKey, anchor } = this.state;
    const start = shownIndex(rows, focusedKey);
    if (start < 0) {
      const anchored = rows[shownIndex(rows, anchor?.key ?? null)];
      const records = rows.filter(({ kind }) => kind === 'record');
      const first = anchored?.kind === 'record' ? anchored : by < 0 ? records.at(-1) : records[0];
      if (first) this.focus(first.key);
      return;
    }
    const step = by < 0 ? -1 : 1;
    let left = Math.abs(by);
    let key: string | undefined;
    for (let index = start + step; left > 0 && index >= 0 && index < rows.length; index += step) {
      const row = rows[index];
      if (row?.kind !== 'record') continue;
      key = row.key;
      left--;
    }
    if (key !== undefined) this.focus(key);
    // The target is beyond the loaded rows.
    if (left > 0) this.loadMore(step < 0 ? 'older' : 'newer');
  }

  /** Repeated lines are shown as one. */
  setFolding(isFolding: boolean): void {
    if (isFolding !== this.state.isFolding) this.#store.set({ isFolding });
  }

  /** Opens or closes, in place: a run of repeated lines, or else all lines of a record. */
  toggle(key: string, part?: 'lines'): void {
    this.#tail.pause();
    this.#store.change(toggled, key, part);
  }

  toFirst(): void {
    this.#tail.pause();
    const { first } = this.state.buffer;
    if (this.state.top.kind === 'done' && first) this.#bringIntoView(recordKey(first), 'top');
    else void this.#pages.show('start', { align: 'top', isFocused: true });
  }

  toLast(): void {
    const { last } = this.state.buffer;
    if (this.#tail.mode !== 'off') this.resume();
    else if (this.state.bottom.kind === 'done' && last) this.#bringIntoView(recordKey(last), 'bottom');
    else void this.#pages.show('end', { align: 'bottom', isFocused: true });
  }

  /** The next record of at least this level in the direction, also beyond the loaded rows. */
  toLevel(level: Level, direction: Direction): void {
    this.#tail.pause();
    this.#withFinder((finder) => finder.toLevel(level, direction));
  }

  /**
   * Without a position, the view keeps its position. An invalid regex changes nothing: `setFind` reports it. A filter with
   * an end time is not followed.
   */
  setFilter(filter: RowFilter, position?: PagePosition): void {
    const signal = this.#regexCheck.begin();
    if (!this.#setup) return;
    const { regex } = filter;
    if (regex === undefined || regex === this.state.filter.regex) {
      this.#applyFilter(filter, position);
      return;
    }
    const query = { text: regex, isRegex: true, isCaseSensitive: filter.caseSensitive ?? false };
    import('./text-matcher.ts')
      .then(({ createMatcher }) => createMatcher(query))
      .then(
        () => signal.aborted || this.#applyFilter(filter, position),
        () => {}, // The finder reports it: it is given the same text.
      );
  }

  #applyFilter(filter: RowFilter, position: PagePosition | undefined): void {
    if (!this.#setup || isSameFilter(filter, this.state.filter)) {
      if (position !== undefined) this.jump(position);
      return;
    }
    const near = this.#recordInView();
    const { bottom, focusedKey } = this.state;
    const wasAtEnd = this.state.isAtEnd || bottom.kind === 'done';
    this.#closeContext();
    this.#store.set({ filter, histogram: null, scans: NO_SCANS });
    this.#finder?.countAgain();
    if (isClosed(filter)) this.#tail.leave();
    if (position !== undefined) {
      this.#tail.pause();
      void this.#pages.reopen(() => this.#pages.at(position));
    } else if (this.#tail.mode === 'live') void this.#pages.live();
    else void this.#pages.around(focusedKey === null && wasAtEnd ? undefined : near);
  }

  setFind(query: FindQuery | null): void {
    const { query: now } = this.state.find;
    const isSame =
      query?.text === now?.text && query?.isRegex === now?.isRegex && query?.isCaseSensitive === now?.isCaseSensitive;
    // Keep a running step to a match when the URL, which is updated later, has the same text.
    if (!isSame) this.#setQuery(query);
  }

  #setQuery(query: FindQuery | null): void {
    const asked = query === null || query.text === '' ? null : query;
    this.#store.set({ find: { ...FIND_NOTHING, query: asked } });
    if (asked || this.#finder) this.#withFinder((finder) => finder.setQuery(asked));
  }

  /** In the order of the calls. */
  #withFinder(act: (finder: Finder) => unknown): void {
    if (this.#finder) act(this.#finder);
    else
      this.#loadingFinder
        .run(() => this.#loadFinder())
        .then(act, (error) => {
          this.#store.find({ message: toProblem(error).detail });
        });
  }

  async #loadFinder(): Promise<Finder> {
    const { Finder } = await import('./finder.ts');
    this.#finder = new Finder({
      ...this.#deps,
      rowsSignal: () => this.#pages.signal,
      goTo: (record) => this.#goTo(record),
    });
    return this.#finder;
  }

  findNext(direction: Direction): void {
    this.#tail.pause();
    this.#withFinder((finder) => finder.findNext(direction));
  }

  /** Shows the unfiltered records around one; called again, hides them. */
  async toggleContext(key: string): Promise<void> {
    this.#tail.pause();
    const wasOpen = this.state.contextKey === key;
    this.#closeContext();
    const row = this.state.buffer.get(key);
    if (wasOpen || row?.kind !== 'record') return;
    const { record } = row;
    const signal = AbortSignal.any([this.#loadingContext.begin(), this.#pages.signal]);
    this.#store.set({ contextKey: key, focusedKey: key });
    try {
      const [older, newer] = await Promise.all([
        this.#loadContext(record, 'older', signal),
        this.#loadContext(record, 'newer', signal),
      ]);
      if (signal.aborted) return;
      this.#store.set({ buffer: insertAround(this.state.buffer, record, { older, newer }) });
    } catch (error) {
      if (signal.aborted) return;
      this.#store.set({ contextKey: null, find: { ...this.state.find, message: toProblem(error).detail } });
    }
  }

  async #loadContext(record: ShownRecord, direction: Direction, signal: AbortSignal): Promise<ShownRecord[]> {
    const request = { direction, from: { at: record }, limit: REQUESTED_RECORDS, filter: {} };
    const page = await this.#setup?.source.page(request, { signal, budgetMs: SLICE_MS });
    const others = (page?.records ?? []).filter((other) => recordKey(other) !== recordKey(record));
    if (direction === 'newer') return others.slice(0, CONTEXT_RECORDS);
    return others.filter((other) => isBefore(other, record)).slice(-CONTEXT_RECORDS);
  }

  #closeContext(): void {
    this.#loadingContext.end();
    this.#store.change(closeContext);
  }

  /** Loads the next page of the records of a gap. */
  async loadGap(key: string): Promise<void> {
    const { buffer, filter } = this.state;
    const row = buffer.get(key);
    const source = this.#setup?.source;
    if (row?.kind !== 'gap' || row.isLoading || !row.range || !source) return;
    this.#store.change(updateGap, key);
    const { signal } = this.#pages;
    try {
      const request = { direction: 'newer', from: { next: row.range.after }, limit: PAGE_RECORDS, filter } as const;
      const page = await source.page(request, { signal, budgetMs: SLICE_MS });
      if (!signal.aborted) this.#store.change(fillGap, key, page);
    } catch (error) {
      if (!signal.aborted) this.#store.change(updateGap, key, toProblem(error).detail);
    }
  }

  /** Counts for the chart and the level chips, over the time range of the filter. */
  async count(buckets: number): Promise<void> {
    const signal = this.#counting.begin();
    this.#store.set({ isCounting: true, countFailure: null });
    try {
      // All levels: the chips show how many records the minimum level hides.
      const { minLevel: _, ...filter } = this.state.filter;
      const options = { signal, budgetMs: COUNT_MS };
      const histogram = (await this.#setup?.source.histogram({ filter, buckets }, options)) ?? null;
      if (signal.aborted) return;
      const reports = histogram?.members ?? [];
      this.#store.change((state) => ({ ...reportMembers(state, 'count', reports), histogram, isCounting: false }));
    } catch (error) {
      if (signal.aborted) return;
      // Earlier counts may belong to another filter, or be old.
      this.#store.set({ histogram: null, isCounting: false, countFailure: toProblem(error).detail });
    }
  }

  /** Stops counting; the last counts stay. */
  stopCounting(): void {
    if (!this.state.isCounting) return;
    this.#counting.end();
    this.#store.set({ isCounting: false });
  }

  /** Loads the extent of the log. Without it only the scroll bar is missing. */
  async #loadExtent(): Promise<void> {
    if (this.#clock.now() - this.#extentLoadedMs < EXTENT_FRESH_MS) return;
    this.#extentLoadedMs = this.#clock.now();
    const signal = this.#loadingExtent.begin();
    try {
      const extent = await this.#setup?.source.extent({ signal });
      if (extent && !signal.aborted) this.#store.set({ extent });
    } catch (error) {
      assertRequestFailed(error, signal);
      this.#extentLoadedMs = -Infinity; // retried with the next page
    }
  }

  #reopen(): void {
    if (this.#setup?.isLive && this.#tail.mode !== 'paused' && !isClosed(this.state.filter)) void this.#pages.live();
    else if (this.#setup) void this.#pages.at(this.#setup.start);
  }

  async #goTo(record: ShownRecord): Promise<void> {
    const key = recordKey(record);
    if (this.state.buffer.has(key)) this.#bringIntoView(key);
    else await this.#pages.at({ at: record });
  }

  #bringIntoView(key: string, align: ShowOptions['align'] = 'center'): void {
    this.#store.set({ focusedKey: key, anchor: { key, align }, generation: this.state.generation + 1 });
  }

  #recordInView(): ShownRecord | undefined {
    const { focusedKey, anchor } = this.state;
    const row = this.state.buffer.get(focusedKey ?? anchor?.key ?? '');
    return row?.kind === 'record' ? row.record : this.state.buffer.first;
  }
}

/** A time range with an end: no new record can fall into it. */
function isClosed({ toMs }: RowFilter): boolean {
  return toMs !== undefined;
}

/** Whether two filters are written the same way, and so match the same records. */
function isSameFilter(a: RowFilter, b: RowFilter): boolean {
  const written = (filter: RowFilter) => {
    const entries = Object.entries(filter).filter(([, value]) => value !== undefined && value !== false);
    return JSON.stringify(entries.sort(([first], [second]) => (first < second ? -1 : 1)));
  };
  return written(a) === written(b);
}

/** Records of the same file are always in order; others are compared by time. */
function isBefore(other: ShownRecord, { node, file, atMs }: ShownRecord): boolean {
  if ((other.node === node && other.file === file) || other.atMs === undefined || atMs === undefined) return true;
  return other.atMs < atMs;
}
