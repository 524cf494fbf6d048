import type { Level } from '@porthole/client';
import { toProblem } from '../../state/to-problem.ts';
import { createMatcher } from '../find/create-matcher.ts';
import { Finder } from '../find/finder.ts';
import { sameFilter } from '../find/record-filters.ts';
import { LiveTail } from '../follow/live-tail.ts';
import {
  type PagePosition,
  type RecordKey,
  type RowFilter,
  recordKey,
  type ShownRecord,
} from '../source/log-source.ts';
import { Attempt } from './attempt.ts';
import { moveFocus } from './bring-into-view.ts';
import { ContextRows } from './context-rows.ts';
import { PAGE_RECORDS, SLICE_MS } from './load-pages.ts';
import type { Direction, LogState } from './log-state.ts';
import { LogStore, type WorkspaceDeps } from './log-store.ts';
import { Overview } from './overview.ts';
import { PageLoader } from './page-loader.ts';
import { ViewOpener } from './view-opener.ts';
import { PAGE_CLOCK, type WorkspaceClock } from './workspace-clock.ts';
import type { FindQuery, OpenWorkspace, Workspace, WorkspaceState } from './workspace-state.ts';

/** The log workspace without its view: rows, edges, following, finding. Can be opened repeatedly and is closed once. */
export class LogWorkspace implements Workspace {
  readonly #store = new LogStore();
  readonly #deps: WorkspaceDeps;
  readonly #pages: PageLoader;
  readonly #tail: LiveTail;
  readonly #finder: Finder;
  readonly #context: ContextRows;
  readonly #overview: Overview;
  readonly #opener: ViewOpener;
  #setup: OpenWorkspace | undefined;
  /** A filter that is validated before it is used. */
  readonly #regexCheck = new Attempt();

  constructor({ clock = PAGE_CLOCK }: { clock?: WorkspaceClock } = {}) {
    const source = () => this.#setup?.source;
    const store = this.#store;
    this.#pages = new PageLoader({ store, clock, source });
    this.#deps = {
      store,
      clock,
      source,
      rowsSignal: () => this.#pages.signal,
      goTo: (record) => this.#goTo(record),
    };
    this.#tail = new LiveTail({ store, clock });
    this.#finder = new Finder(this.#deps);
    this.#context = new ContextRows(this.#deps);
    this.#overview = new Overview(this.#deps);
    this.#opener = new ViewOpener({ ...this.#deps, pages: this.#pages, tail: this.#tail, overview: this.#overview });
  }

  get state(): LogState {
    return this.#store.state;
  }

  subscribe(listener: () => void): () => void {
    return this.#store.subscribe(listener);
  }

  open(setup: OpenWorkspace): void {
    this.close();
    this.#setup = setup;
    this.#store.dispatch({ type: 'opened', filter: setup.filter });
    this.#finder.setQuery(setup.find);
    if (setup.isLive && !isClosed(setup.filter)) void this.#opener.live();
    else void this.#opener.at(setup.start);
  }

  close(): void {
    this.#regexCheck.end();
    this.#opener.close();
    this.#pages.close();
    this.#tail.end();
    this.#finder.close();
    this.#overview.close();
    this.#setup = undefined;
  }

  loadOlder(): void {
    if (this.state.top.kind === 'more') this.#pages.load('older');
  }

  loadNewer(): void {
    if (this.state.bottom.kind === 'more') this.#pages.load('newer');
  }

  stopLoading(): void {
    this.#pages.stop();
    this.#finder.stop();
  }

  retry(): void {
    const { failure, members, top, bottom } = this.state;
    if (failure) this.#reopen();
    const isOpenAgain = ({ kind }: WorkspaceState['top']) => kind === 'stopped' || kind === 'failed';
    if (isOpenAgain(top)) this.#pages.load('older');
    if (isOpenAgain(bottom)) this.#pages.load('newer');
    if (!failure && members.some(({ outcome }) => outcome !== 'ok')) this.#reload();
  }

  jump(position: PagePosition): void {
    this.#tail.pause();
    const key = typeof position === 'object' && 'at' in position ? position.at : undefined;
    if (key && this.state.buffer.has(recordKey(key))) this.#bringIntoView(recordKey(key));
    else void this.#opener.at(position);
  }

  pause(): void {
    this.#tail.pause();
  }

  resume(): void {
    if (isClosed(this.state.filter)) return;
    this.#context.close();
    if (!this.#tail.resume()) void this.#opener.live();
  }

  focus(key: string | null): void {
    if (key !== null && this.state.buffer.get(key)?.kind === 'record') this.#tail.pause();
    if (this.state.focusedKey === key) return;
    this.#store.dispatch({ type: 'focused', key });
  }

  moveFocus(by: number): void {
    this.#tail.pause();
    const { key, isPastStart, isPastEnd } = moveFocus(this.state, by);
    if (key !== undefined) this.focus(key);
    if (isPastStart) this.loadOlder();
    if (isPastEnd) this.loadNewer();
  }

  toFirst(): void {
    this.#tail.pause();
    const { first } = this.state.buffer;
    if (this.state.top.kind === 'done' && first) this.#bringIntoView(recordKey(first), 'top');
    else void this.#opener.show('start', { align: 'top', isFocused: true });
  }

  toLast(): void {
    const { last } = this.state.buffer;
    if (this.#tail.mode !== 'off') this.resume();
    else if (this.state.bottom.kind === 'done' && last) this.#bringIntoView(recordKey(last), 'bottom');
    else void this.#opener.show('end', { align: 'bottom', isFocused: true });
  }

  toLevel(level: Level, direction: Direction): void {
    this.#tail.pause();
    void this.#finder.toLevel(level, direction);
  }

  setFilter(filter: RowFilter, position?: PagePosition): void {
    const signal = this.#regexCheck.begin();
    if (!this.#setup) return;
    const { regex } = filter;
    if (regex === undefined || regex === this.state.filter.regex) {
      this.#applyFilter(filter, position);
      return;
    }
    createMatcher({ text: regex, isRegex: true, isCaseSensitive: filter.caseSensitive ?? false }).then(
      () => signal.aborted || this.#applyFilter(filter, position),
      () => {}, // The finder reports it: it is given the same text.
    );
  }

  #applyFilter(filter: RowFilter, position: PagePosition | undefined): void {
    if (!this.#setup || sameFilter(filter, this.state.filter)) {
      if (position !== undefined) this.jump(position);
      return;
    }
    const near = this.#recordInView();
    const { bottom, focusedKey } = this.state;
    const wasAtEnd = this.state.isAtEnd || bottom.kind === 'done';
    this.#context.close();
    this.#store.dispatch({ type: 'filter-changed', filter });
    this.#finder.countAgain();
    if (isClosed(filter)) this.#tail.leave();
    if (position !== undefined) {
      this.#tail.pause();
      void this.#opener.reopen(() => this.#opener.at(position));
    } else if (this.#tail.mode === 'live') void this.#opener.live();
    else void this.#opener.around(focusedKey === null && wasAtEnd ? undefined : near);
  }

  setFind(query: FindQuery | null): void {
    // Keep a running step to a match when the URL, which is updated later, has the same text.
    if (!isSameQuery(query, this.state.find.query)) this.#finder.setQuery(query);
  }

  findNext(direction: Direction): void {
    this.#tail.pause();
    void this.#finder.findNext(direction);
  }

  toggleContext(key: string): void {
    this.#tail.pause();
    void this.#context.toggle(key);
  }

  loadGap(key: string): void {
    void this.#loadGap(key);
  }

  count(buckets: number): void {
    void this.#overview.count(buckets);
  }

  keyFor(record: RecordKey): string {
    return recordKey(record);
  }

  #reopen(): void {
    if (this.#setup?.isLive && this.#tail.mode !== 'paused' && !isClosed(this.state.filter)) void this.#opener.live();
    else if (this.#setup) void this.#opener.at(this.#setup.start);
  }

  #reload(): void {
    if (this.#tail.mode === 'live') void this.#opener.live();
    else void this.#opener.around(this.#recordInView());
  }

  /** Loads the next page of the records of a gap. */
  async #loadGap(key: string): Promise<void> {
    const { buffer, filter } = this.state;
    const row = buffer.get(key);
    const source = this.#setup?.source;
    if (row?.kind !== 'gap' || row.isLoading || !row.range || !source) return;
    this.#store.dispatch({ type: 'gap-load-started', key });
    const { signal } = this.#pages;
    try {
      const request = { direction: 'newer', from: { next: row.range.after }, limit: PAGE_RECORDS, filter } as const;
      const page = await source.page(request, { signal, budgetMs: SLICE_MS });
      if (!signal.aborted) this.#store.dispatch({ type: 'gap-loaded', key, page });
    } catch (error) {
      if (!signal.aborted) this.#store.dispatch({ type: 'gap-load-failed', key, detail: toProblem(error).detail });
    }
  }

  async #goTo(record: ShownRecord): Promise<void> {
    const key = recordKey(record);
    if (this.state.buffer.has(key)) this.#bringIntoView(key);
    else await this.#opener.at({ at: record });
  }

  #bringIntoView(key: string, align: 'top' | 'center' | 'bottom' = 'center'): void {
    this.#store.dispatch({ type: 'brought-into-view', key, align });
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

function isSameQuery(a: FindQuery | null, b: FindQuery | null): boolean {
  return a?.text === b?.text && a?.isRegex === b?.isRegex && a?.isCaseSensitive === b?.isCaseSensitive;
}
