import type { Level } from '@porthole/client';
import { createMatcher } from '../find/create-matcher.ts';
import { Finder } from '../find/finder.ts';
import { sameFilter } from '../find/record-filters.ts';
import { FollowRows } from '../follow/follow-rows.ts';
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
import { GapLoader } from './gap-loader.ts';
import { LogWindow } from './log-window.ts';
import { Overview } from './overview.ts';
import { FIND_NOTHING, StateKeeper } from './state-keeper.ts';
import { ViewOpener } from './view-opener.ts';
import { PAGE_CLOCK, type WorkspaceClock } from './workspace-clock.ts';
import type { WorkspaceDeps } from './workspace-deps.ts';
import type { FindQuery, OpenWorkspace, Workspace, WorkspaceState } from './workspace-state.ts';

type Direction = 'older' | 'newer';

/** The log workspace without its view: rows, edges, following, finding. Can be opened repeatedly and is closed once. */
export class LogWorkspace implements Workspace {
  readonly #keeper = new StateKeeper();
  readonly #window: LogWindow;
  readonly #tail: LiveTail;
  readonly #finder: Finder;
  readonly #context: ContextRows;
  readonly #gaps: GapLoader;
  readonly #overview: Overview;
  readonly #opener: ViewOpener;
  #setup: OpenWorkspace | undefined;
  /** A filter that is validated before it is used. */
  readonly #regexCheck = new Attempt();

  constructor({ clock = PAGE_CLOCK }: { clock?: WorkspaceClock } = {}) {
    this.#window = new LogWindow(this.#keeper, clock);
    const deps: WorkspaceDeps = {
      keeper: this.#keeper,
      clock,
      window: this.#window,
      followRows: new FollowRows(),
      source: () => this.#setup?.source,
      goTo: (record) => this.#goTo(record),
    };
    this.#tail = new LiveTail(deps);
    this.#finder = new Finder(deps);
    this.#context = new ContextRows(deps);
    this.#gaps = new GapLoader(deps);
    this.#overview = new Overview(deps);
    this.#opener = new ViewOpener({ ...deps, tail: this.#tail, overview: this.#overview });
  }

  get state(): WorkspaceState {
    return this.#keeper.state;
  }

  subscribe(listener: () => void): () => void {
    return this.#keeper.subscribe(listener);
  }

  open(setup: OpenWorkspace): void {
    this.close();
    this.#setup = setup;
    this.#window.buffer.reset([]);
    this.#keeper.reset({ filter: setup.filter, find: FIND_NOTHING });
    this.#window.use(setup.source, setup.filter);
    this.#finder.setQuery(setup.find);
    if (setup.isLive && !isClosed(setup.filter)) void this.#opener.live();
    else void this.#opener.at(setup.start);
  }

  close(): void {
    this.#regexCheck.end();
    this.#opener.close();
    this.#window.close();
    this.#tail.end();
    this.#finder.close();
    this.#overview.close();
    this.#setup = undefined;
  }

  loadOlder(): void {
    if (this.state.top.kind === 'more') this.#window.load('older');
  }

  loadNewer(): void {
    if (this.state.bottom.kind === 'more') this.#window.load('newer');
  }

  stopLoading(): void {
    this.#window.stop();
    this.#finder.stop();
  }

  retry(): void {
    const { failure, members, top, bottom } = this.state;
    if (failure) this.#reopen();
    const isOpenAgain = ({ kind }: WorkspaceState['top']) => kind === 'stopped' || kind === 'failed';
    if (isOpenAgain(top)) this.#window.load('older');
    if (isOpenAgain(bottom)) this.#window.load('newer');
    if (!failure && members.some(({ outcome }) => outcome !== 'ok')) this.#reload();
  }

  jump(position: PagePosition): void {
    this.#tail.pause();
    const key = typeof position === 'object' && 'at' in position ? position.at : undefined;
    if (key && this.#window.buffer.has(recordKey(key))) this.#bringIntoView(recordKey(key));
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
    if (key !== null && this.#window.buffer.get(key)?.kind === 'record') this.#tail.pause();
    if (this.state.focusedKey === key) return;
    this.#keeper.change({ focusedKey: key });
    this.#finder.focusMoved();
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
    const { first } = this.#window.buffer;
    if (this.state.top.kind === 'done' && first) this.#bringIntoView(recordKey(first), 'top');
    else void this.#opener.show('start', { align: 'top', isFocused: true });
  }

  toLast(): void {
    const { last } = this.#window.buffer;
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
    const wasAtEnd = this.#window.isAtEnd || bottom.kind === 'done';
    this.#context.close();
    this.#keeper.change({ filter, histogram: null });
    this.#window.use(this.#setup.source, filter);
    this.#finder.countAgain();
    if (isClosed(filter)) this.#tail.leave();
    if (position !== undefined) {
      this.#tail.pause();
      void this.#opener.reopen(() => this.#opener.at(position));
    } else if (this.#tail.mode === 'live') void this.#opener.live();
    else void this.#opener.around(focusedKey === null && wasAtEnd ? undefined : near);
  }

  setFind(query: FindQuery | null): void {
    // Keep a running step to a match when the URL, which is updated later, asks for the same text.
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
    void this.#gaps.load(key);
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

  async #goTo(record: ShownRecord): Promise<void> {
    const key = recordKey(record);
    if (this.#window.buffer.has(key)) this.#bringIntoView(key);
    else await this.#opener.at({ at: record });
  }

  #bringIntoView(key: string, align: 'top' | 'center' | 'bottom' = 'center'): void {
    this.#keeper.change({ focusedKey: key, anchor: { key, align }, generation: this.state.generation + 1 });
  }

  #recordInView(): ShownRecord | undefined {
    const { focusedKey, anchor } = this.state;
    const row = this.#window.buffer.get(focusedKey ?? anchor?.key ?? '');
    return row?.kind === 'record' ? row.record : this.#window.buffer.first;
  }
}

/** A time range with an end: no new record can fall into it. */
function isClosed({ toMs }: RowFilter): boolean {
  return toMs !== undefined;
}

function isSameQuery(a: FindQuery | null, b: FindQuery | null): boolean {
  return a?.text === b?.text && a?.isRegex === b?.isRegex && a?.isCaseSensitive === b?.isCaseSensitive;
}
