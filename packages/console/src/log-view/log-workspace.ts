import type { Level } from '@porthole/client';
import type { ShowOptions } from './bring-into-view.ts';
import { ContextRows } from './context-rows.ts';
import { mayRetry } from './failure-of.ts';
import { Finder } from './finder.ts';
import { FollowRows } from './follow-rows.ts';
import { GapLoader } from './gap-loader.ts';
import { LiveTail } from './live-tail.ts';
import type { Place, RecordKey, RowFilter, ShownRecord } from './log-source.ts';
import { LogWindow, type ShowResult } from './log-window.ts';
import { moveFocus } from './move-focus.ts';
import { Overview } from './overview.ts';
import { keyOf } from './record-key.ts';
import { sameFilter } from './same-filter.ts';
import { FIND_NOTHING, StateKeeper } from './state-keeper.ts';
import { PAGE_CLOCK, type WorkspaceClock } from './workspace-clock.ts';
import type { WorkspaceParts } from './workspace-parts.ts';
import type { FindQuery, OpenWorkspace, Workspace, WorkspaceState } from './workspace-state.ts';

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 15_000;

type Direction = 'older' | 'newer';

/** The log workspace without its view: rows, both their ends, following, finding. Opened as often as needed, closed once. */
export class LogWorkspace implements Workspace {
  readonly #keeper = new StateKeeper();
  readonly #clock: WorkspaceClock;
  readonly #window: LogWindow;
  readonly #tail: LiveTail;
  readonly #finder: Finder;
  readonly #context: ContextRows;
  readonly #gaps: GapLoader;
  readonly #overview: Overview;
  #setup: OpenWorkspace | undefined;
  /** Of what is open: fires when something else is opened. */
  #opened = new AbortController();

  constructor({ clock = PAGE_CLOCK }: { clock?: WorkspaceClock } = {}) {
    this.#clock = clock;
    this.#window = new LogWindow(this.#keeper, clock);
    const parts: WorkspaceParts = {
      keeper: this.#keeper,
      clock,
      window: this.#window,
      followRows: new FollowRows(),
      source: () => this.#setup?.source,
      goTo: (record) => this.#goTo(record),
    };
    this.#tail = new LiveTail(parts);
    this.#finder = new Finder(parts);
    this.#context = new ContextRows(parts);
    this.#gaps = new GapLoader(parts);
    this.#overview = new Overview(parts);
  }

  get state(): WorkspaceState {
    return this.#keeper.state;
  }

  subscribe(listener: () => void): () => void {
    return this.#keeper.subscribe(listener);
  }

  open(setup: OpenWorkspace): void {
    this.close();
    this.#opened = new AbortController();
    this.#setup = setup;
    this.#window.buffer.reset([]);
    this.#keeper.reset({ filter: setup.filter, find: FIND_NOTHING });
    this.#window.use(setup.source, setup.filter);
    this.#finder.setQuery(setup.find);
    if (setup.isLive) void this.#openLive();
    else void this.#show(setup.start, optionsFor(setup.start));
  }

  close(): void {
    this.#opened.abort();
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
    if (failure) return void this.#reopen();
    const isOpenAgain = ({ kind }: WorkspaceState['top']) => kind === 'stopped' || kind === 'failed';
    if (isOpenAgain(top)) this.#window.load('older');
    if (isOpenAgain(bottom)) this.#window.load('newer');
    if (members.some(({ outcome }) => outcome !== 'ok')) this.#reload();
  }

  jump(place: Place): void {
    this.#tail.pause();
    const key = typeof place === 'object' && 'at' in place ? place.at : undefined;
    if (key && this.#window.buffer.has(keyOf(key))) this.#bringIntoView(keyOf(key));
    else void this.#show(place, optionsFor(place));
  }

  pause(): void {
    this.#tail.pause();
  }

  resume(): void {
    this.#context.close();
    if (!this.#tail.resume()) void this.#openLive();
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
    if (this.state.top.kind === 'done' && first) this.#bringIntoView(keyOf(first), 'top');
    else void this.#show('start', { align: 'top', isFocused: true });
  }

  toLast(): void {
    const { last } = this.#window.buffer;
    if (this.#tail.mode !== 'off') this.resume();
    else if (this.state.bottom.kind === 'done' && last) this.#bringIntoView(keyOf(last), 'bottom');
    else void this.#show('end', { align: 'bottom', isFocused: true });
  }

  toLevel(level: Level, direction: Direction): void {
    this.#tail.pause();
    void this.#finder.toLevel(level, direction);
  }

  setFilter(filter: RowFilter): void {
    if (!this.#setup || sameFilter(filter, this.state.filter)) return;
    const near = this.#recordInView();
    const { bottom, focusedKey } = this.state;
    const wasAtEnd = this.#window.isAtEnd || bottom.kind === 'done';
    this.#context.close();
    this.#keeper.change({ filter, histogram: null });
    this.#window.use(this.#setup.source, filter);
    this.#finder.countAgain();
    if (this.#tail.mode === 'live') return void this.#openLive();
    void this.#refilter(focusedKey === null && wasAtEnd ? undefined : near);
  }

  setFind(query: FindQuery | null): void {
    this.#finder.setQuery(query);
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

  keyOf(record: RecordKey): string {
    return keyOf(record);
  }

  /** Shows the newest and follows. A node that cannot be asked is asked again until it answers. */
  async #openLive(): Promise<void> {
    const setup = this.#setup;
    if (!setup) return;
    this.#opened.abort();
    this.#opened = new AbortController();
    const { signal } = this.#opened;
    this.#tail.announce('live');
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      const result = await this.#show('end', { align: 'bottom' });
      if (signal.aborted) return;
      if (result !== 'failed') break;
      if (!mayRetry(this.state.failure)) return;
      await this.#clock.wait(waitMs, signal);
      if (signal.aborted) return;
    }
    this.#tail.begin(setup.source, this.state.filter);
  }

  async #show(place: Place, options: ShowOptions): Promise<ShowResult> {
    const result = await this.#window.show(place, options);
    if (result === 'shown') void this.#overview.look();
    return result;
  }

  /** Other records are let through: the one in view stays there, or the nearest to it. */
  async #refilter(near: ShownRecord | undefined): Promise<void> {
    const isPaused = this.#tail.mode === 'paused';
    const isFocused = this.state.focusedKey !== null;
    if (isPaused) this.#tail.announce('paused');
    let result = near
      ? await this.#show({ at: near }, { align: 'center', near, isFocused })
      : await this.#show('end', { align: 'bottom' });
    if (result === 'failed' && near?.atMs !== undefined && this.state.failure?.code === 'CURSOR_GONE')
      result = await this.#show({ timeMs: near.atMs }, { align: 'center', near, isFocused });
    if (isPaused && result !== 'stale' && this.#setup) this.#tail.begin(this.#setup.source, this.state.filter);
  }

  async #reopen(): Promise<void> {
    const setup = this.#setup;
    if (!setup) return;
    if (setup.isLive && this.#tail.mode !== 'paused') await this.#openLive();
    else await this.#show(setup.start, optionsFor(setup.start));
  }

  #reload(): void {
    if (this.#tail.mode === 'live') return void this.#openLive();
    void this.#refilter(this.#recordInView());
  }

  #goTo(record: ShownRecord): void {
    const key = keyOf(record);
    if (this.#window.buffer.has(key)) this.#bringIntoView(key);
    else void this.#show({ at: record }, { align: 'center', near: record, isFocused: true });
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

function optionsFor(place: Place): ShowOptions {
  if (place === 'end') return { align: 'bottom' };
  if (typeof place === 'object' && 'at' in place) return { align: 'center', near: place.at, isFocused: true };
  return { align: 'top' };
}
