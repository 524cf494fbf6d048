import { toProblem } from '../../state/to-problem.ts';
import {
  type LogSource,
  type Page,
  type PagePosition,
  type RowFilter,
  recordKey,
  type ShownRecord,
} from '../source/log-source.ts';
import { Attempt } from './attempt.ts';
import { bringIntoView, type ShowOptions } from './bring-into-view.ts';
import { mergeDuplicates, mergeProblems } from './file-problems.ts';
import { FIRST_RECORDS, loadPages, PAGE_RECORDS, ScanNotes, SLICE_MS } from './load-pages.ts';
import { RowBuffer, recordRow } from './row-buffer.ts';
import type { StateKeeper } from './state-keeper.ts';
import type { WorkspaceClock } from './workspace-clock.ts';
import type { Edge, Row, WorkspaceState } from './workspace-state.ts';

type Direction = 'older' | 'newer';

/** `stale`: the rows were replaced meanwhile. */
export type ShowResult = 'shown' | 'failed' | 'stale';

const EDGES = { older: 'top', newer: 'bottom' } as const satisfies Record<Direction, keyof WorkspaceState>;

/** The loaded rows and both of their edges: shows a position and loads more in either direction. */
export class LogWindow {
  readonly buffer = new RowBuffer();
  /** Whether the last row is adjacent to the followed records. */
  isAtEnd = false;
  readonly #keeper: StateKeeper;
  readonly #clock: WorkspaceClock;
  #source: LogSource | undefined;
  #filter: RowFilter = {};
  /** Identifies the current rows; responses for earlier ones are ignored. */
  readonly #showing = new Attempt();
  #loading: Partial<Record<Direction, Attempt>> = {};
  #positions: Record<Direction, PagePosition | null> = { older: null, newer: null };
  #scans = { older: new ScanNotes(), newer: new ScanNotes() };
  /** What to bring into view once there are rows. */
  #pending: ShowOptions | undefined;

  constructor(keeper: StateKeeper, clock: WorkspaceClock) {
    this.#keeper = keeper;
    this.#clock = clock;
  }

  /** Fires when the rows are replaced. */
  get signal(): AbortSignal {
    return this.#showing.signal;
  }

  use(source: LogSource, filter: RowFilter): void {
    this.#source = source;
    this.#filter = filter;
    this.#scans = { older: new ScanNotes(), newer: new ScanNotes() };
  }

  close(): void {
    this.#showing.end();
    for (const attempt of Object.values(this.#loading)) attempt.end();
    this.#loading = {};
  }

  /** Replaces all rows. */
  async show(position: PagePosition, options: ShowOptions): Promise<ShowResult> {
    const source = this.#source;
    if (!source) return 'stale';
    this.close();
    const signal = this.#showing.begin();
    this.isAtEnd = false;
    const loading: Edge = { kind: 'loading', sinceMs: this.#clock.now(), scannedBytes: 0, reachedMs: null };
    const [loadsOlder, loadsNewer] = [position !== 'start', position !== 'end'];
    this.#keeper.change({
      contextKey: null,
      ...(loadsOlder && { top: loading }),
      ...(loadsNewer && { bottom: loading }),
    });
    const fetchPage = (direction: Direction) =>
      source.page(
        { direction, from: position, limit: FIRST_RECORDS, filter: this.#filter },
        { signal, budgetMs: SLICE_MS },
      );
    try {
      const [newer, older] = await Promise.all([
        loadsNewer ? fetchPage('newer') : null,
        loadsOlder ? fetchPage('older') : null,
      ]);
      if (signal.aborted) return 'stale';
      this.#take(newer, older, options);
      return 'shown';
    } catch (error) {
      if (signal.aborted) return 'stale';
      this.close();
      this.#fail(error);
      return 'failed';
    }
  }

  load(direction: Direction): void {
    const position = this.#positions[direction];
    const source = this.#source;
    if (!source || position === null || this.#loading[direction] || (direction === 'newer' && this.isAtEnd)) return;
    const attempt = new Attempt();
    this.#loading[direction] = attempt;
    const signal = AbortSignal.any([attempt.signal, this.#showing.signal]);
    const run = loadPages({
      source,
      clock: this.#clock,
      filter: this.#filter,
      direction,
      from: position,
      wanted: PAGE_RECORDS,
      signal,
      onPage: (page, next) => this.#add(page, next, direction),
      onEdge: (edge) => this.#keeper.change({ [EDGES[direction]]: this.#scans[direction].complete(edge) }),
    });
    void run.finally(() => {
      if (this.#loading[direction] === attempt) delete this.#loading[direction];
    });
  }

  /** Cancels loading at both edges; they can be continued. */
  stop(): void {
    for (const direction of ['older', 'newer'] as const) {
      const edge = this.#keeper.state[EDGES[direction]];
      this.#loading[direction]?.end();
      delete this.#loading[direction];
      if (edge.kind !== 'loading') continue;
      const { scannedBytes, reachedMs } = edge;
      this.#keeper.change({ [EDGES[direction]]: { kind: 'stopped', scannedBytes, reachedMs } });
    }
  }

  /** Appends followed rows. */
  appendLive(rows: readonly Row[]): Partial<WorkspaceState> {
    const wasEmpty = this.buffer.rows.length === 0;
    this.buffer.append(rows);
    const isTrimmed = this.buffer.trimStart(this.#keeper.state.focusedKey);
    if (isTrimmed) this.#open('older');
    return {
      rows: this.buffer.rows,
      ...(isTrimmed && { top: { kind: 'more' } as const }),
      ...(wasEmpty && this.#scrollTarget()),
    };
  }

  /** Rows were inserted: excess rows are dropped at the start while following, otherwise at the farther end. */
  trimInside(key: string): Partial<WorkspaceState> {
    const { rows } = this.buffer;
    const { focusedKey } = this.#keeper.state;
    const isNearEnd = this.isAtEnd || rows.findIndex((row) => row.key === key) * 2 > rows.length;
    const isTrimmed = isNearEnd ? this.buffer.trimStart(focusedKey) : this.buffer.trimEnd(focusedKey);
    if (!isTrimmed) return {};
    const direction = isNearEnd ? 'older' : 'newer';
    this.#open(direction);
    return { [EDGES[direction]]: { kind: 'more' } };
  }

  /** Publishes a change made to the buffer. */
  publish(part: Partial<WorkspaceState> = {}): void {
    this.#keeper.change({ rows: this.buffer.rows, ...part });
  }

  #take(newer: Page | null, older: Page | null, options: ShowOptions): void {
    // Newer first: for records of the same millisecond that order is the right one.
    this.buffer.reset((newer?.records ?? []).map(recordRow));
    this.buffer.prepend((older?.records ?? []).map(recordRow));
    this.#pending = { ...options };
    this.#positions = { older: nextPosition(older), newer: nextPosition(newer) };
    this.isAtEnd = newer === null;
    this.#scans.older.noteFirst(older);
    this.#scans.newer.noteFirst(newer);
    const firstNewer = newer?.records.find((record) => this.buffer.has(recordKey(record)));
    const isAwaited = options.near !== undefined && newer?.records.length === 0 && newer.next !== null;
    const { top, bottom } = this.#keeper.state;
    const isStopped = (older !== null && top.kind === 'stopped') || (newer !== null && bottom.kind === 'stopped');
    this.#keeper.change({
      failure: null,
      rows: this.buffer.rows,
      focusedKey: null,
      top: this.#scans.older.edgeAfter(older),
      bottom: this.#scans.newer.edgeAfter(newer),
      ...this.#mergeReports([newer, older]),
      ...this.#scrollTarget(firstNewer, isAwaited),
    });
    const isFew = (page: Page | null) => page !== null && page.next !== null && page.records.length < FIRST_RECORDS;
    if (isFew(older)) this.#continue('older', isStopped);
    if (isFew(newer)) this.#continue('newer', isStopped);
  }

  /** The first request found too little: load more, unless the user has stopped it. */
  #continue(direction: Direction, isStopped: boolean): void {
    if (!isStopped) {
      this.load(direction);
      return;
    }
    const stopped = this.#scans[direction].complete({ kind: 'stopped', scannedBytes: 0, reachedMs: null });
    this.#keeper.change({ [EDGES[direction]]: stopped });
  }

  /** Brings something into view as soon as there are rows. While newer rows load, older ones are shown. */
  #scrollTarget(firstNewer?: ShownRecord, isAwaited = false): Partial<WorkspaceState> {
    const pending = this.#pending;
    if (!pending) return {};
    if (this.buffer.rows.length === 0) return { anchor: null };
    if (!isAwaited) this.#pending = undefined;
    const generation = this.#keeper.state.generation + 1;
    return bringIntoView(this.buffer, {
      options: isAwaited ? { ...pending, isFocused: false } : pending,
      firstNewer,
      generation,
    });
  }

  #add(page: Page, next: PagePosition | null, direction: Direction): number {
    const { state } = this.#keeper;
    const rows = page.records.map(recordRow);
    const wasEmpty = this.buffer.rows.length === 0;
    const added = direction === 'older' ? this.buffer.prepend(rows) : this.buffer.append(rows);
    this.#positions[direction] = next;
    this.#scans[direction].note(page);
    const other = direction === 'older' ? 'newer' : 'older';
    const isTrimmed =
      direction === 'older' ? this.buffer.trimEnd(state.focusedKey) : this.buffer.trimStart(state.focusedKey);
    if (isTrimmed) this.#open(other);
    this.#keeper.change({
      rows: this.buffer.rows,
      ...(isTrimmed && { [EDGES[other]]: { kind: 'more' } }),
      ...this.#mergeReports([page]),
      ...this.#scrollTargetAfter(page, direction, wasEmpty),
    });
    return added;
  }

  #scrollTargetAfter({ records, next }: Page, direction: Direction, wasEmpty: boolean): Partial<WorkspaceState> {
    if (direction === 'newer' && (records.length > 0 || next === null)) return this.#scrollTarget(records[0]);
    return wasEmpty ? this.#scrollTarget() : {};
  }

  /** Rows were dropped at this end: it continues after the last one left. */
  #open(direction: Direction): void {
    this.#loading[direction]?.end();
    delete this.#loading[direction];
    const record = direction === 'older' ? this.buffer.first : this.buffer.last;
    this.#positions[direction] = record ? { next: record } : null;
    if (direction === 'newer') this.isAtEnd = false;
  }

  #mergeReports(pages: readonly (Page | null)[]): Partial<WorkspaceState> {
    const loaded = pages.filter((page) => page !== null);
    const members = this.#keeper.membersAfter(
      'page',
      loaded.flatMap((page) => page.members),
    );
    const problems = mergeProblems(
      this.#keeper.state.problems,
      loaded.flatMap((page) => page.problems),
    );
    const duplicates = mergeDuplicates(
      this.#keeper.state.duplicates,
      loaded.flatMap((page) => page.duplicates),
    );
    return { members, problems, duplicates };
  }

  #fail(error: unknown): void {
    const failure = toProblem(error);
    this.buffer.reset([]);
    this.#positions = { older: null, newer: null };
    const edge: Edge = { kind: 'failed', code: failure.code, detail: failure.detail };
    this.#keeper.change({ failure, rows: [], focusedKey: null, anchor: null, top: edge, bottom: edge });
  }
}

function nextPosition(page: Page | null): PagePosition | null {
  return page === null || page.next === null ? null : { page: page.next };
}
