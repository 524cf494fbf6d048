import type { ClusterFollowItem } from '@porthole/client';
import { assertRequestFailed } from '../../state/to-problem.ts';
import { formatCount } from '../../ui/format.ts';
import { Attempt } from '../model/attempt.ts';
import { PAGE_RECORDS, SLICE_MS } from '../model/load-pages.ts';
import type { LogStore } from '../model/log-store.ts';
import { RowBuffer, recordRow } from '../model/row-buffer.ts';
import type { WorkspaceClock } from '../model/workspace-clock.ts';
import type { FollowStatus, Row } from '../model/workspace-state.ts';
import type { LogSource, RowFilter, ShownRecord } from '../source/log-source.ts';
import { FollowRows } from './follow-rows.ts';
import { FollowRun } from './follow-run.ts';
import { PendingRows } from './pending-rows.ts';

/** How often the rate is updated; it falls while nothing arrives. */
const TICK_MS = 1000;

export interface LiveTailDeps {
  store: LogStore;
  clock: WorkspaceClock;
}

/** New records while the workspace is open: shown as they arrive, or counted and held while paused. */
export class LiveTail {
  readonly #deps: LiveTailDeps;
  readonly #followRows = new FollowRows();
  readonly #pendingRows = new PendingRows();
  #mode: 'off' | 'live' | 'paused' = 'off';
  #run: FollowRun | undefined;
  readonly #following = new Attempt();
  #incoming: Row[] = [];
  /** New records wait until those written before the stream began are loaded. */
  #isBridging = false;
  #isScheduled = false;
  #meter = new FollowMeter();
  /** Why the connection is lost. */
  #reason: string | null = null;

  constructor(deps: LiveTailDeps) {
    this.#deps = deps;
  }

  get mode(): 'off' | 'live' | 'paused' {
    return this.#mode;
  }

  /** Sets the mode before the rows are loaded; records arrive once `begin` is called. */
  announce(mode: 'live' | 'paused'): void {
    this.end();
    this.#mode = mode;
    this.#publish();
  }

  /** Follows after the last row of the window, or from now on if the window is elsewhere. */
  begin(source: LogSource, filter: RowFilter): void {
    const { clock, store } = this.#deps;
    this.#following.begin();
    const { isAtEnd, buffer } = store.state;
    const { first, last, rows } = isAtEnd ? buffer : RowBuffer.EMPTY;
    this.#isBridging = isAtEnd && last === undefined;
    let hasBegun = false;
    this.#run = new FollowRun({
      source,
      filter,
      clock,
      newest: last,
      sinceMs: first?.atMs === undefined ? undefined : first.atMs + 1,
      known: rows.filter(({ kind }) => kind === 'record').map(({ key }) => key),
      onItems: (items) => {
        if (!hasBegun && this.#isBridging) void this.#bridge(source, filter);
        hasBegun = true;
        this.#take(items);
      },
      onLost: (reason) => this.#onConnectionLost(reason),
      onGone: () =>
        this.#add([this.#followRows.gap('Records may be missing here: the last record is no longer in the log', null)]),
    });
    void this.#tick();
  }

  end(): void {
    this.#run?.stop();
    this.#run = undefined;
    this.#following.end();
    this.#mode = 'off';
    this.#incoming = [];
    this.#isBridging = false;
    this.#pendingRows.clear();
    this.#meter = new FollowMeter();
    this.#reason = null;
  }

  /** Stops following. */
  leave(): void {
    this.end();
    this.#publish();
  }

  pause(): void {
    if (this.#mode !== 'live') return;
    this.#flush();
    this.#mode = 'paused';
    this.#meter.resetCounts();
    this.#publish();
  }

  /** Continues at the end, with the records held so far. `false` if the window is elsewhere. */
  resume(): boolean {
    const { isAtEnd, buffer } = this.#deps.store.state;
    if (this.#mode === 'live') return true;
    if (this.#mode === 'off' || !this.#run || !isAtEnd) return false;
    const { rows, dropped, first } = this.#pendingRows.take();
    if (dropped > 0) {
      const range = buffer.last && first ? { node: null, after: buffer.last, until: first } : null;
      rows.unshift(this.#followRows.gap(`${formatCount(dropped)} records not shown: written while paused`, range));
    }
    this.#mode = 'live';
    this.#meter.resetCounts();
    this.#deps.store.dispatch({ type: 'resumed', rows, follow: this.#status() });
    return true;
  }

  #take(items: readonly ClusterFollowItem[]): void {
    const { clock, store } = this.#deps;
    const lost = items.findLast((item) => item.type === 'reconnecting' && !('node' in item));
    if (lost?.type === 'reconnecting') this.#onConnectionLost(lost.reason);
    else this.#reason = null;
    const reports = items.flatMap((item) => (item.type === 'member' ? [item.report] : []));
    if (reports.length > 0) store.dispatch({ type: 'members-reported', kind: 'follow', reports });
    const rows = this.#followRows.toRows(items);
    const records = rows.flatMap((row) => (row.kind === 'record' ? [row.record] : []));
    this.#meter.note(records, { nowMs: clock.now(), isPaused: this.#mode === 'paused' });
    this.#add(rows);
  }

  #add(rows: readonly Row[]): void {
    const { isAtEnd } = this.#deps.store.state;
    // Rows were dropped at the end: new ones are no longer adjacent to it.
    if (this.#mode === 'live' && !isAtEnd) this.#mode = 'paused';
    if (this.#mode === 'live') this.#incoming.push(...rows);
    else if (isAtEnd) this.#pendingRows.add(rows);
    else this.#pendingRows.clear();
    this.#schedule();
  }

  #onConnectionLost(reason: string): void {
    // One row per outage.
    if (this.#reason === null)
      this.#add([this.#followRows.event(null, 'Connection lost · retrying', { isProblem: true })]);
    this.#reason = reason;
    this.#schedule();
  }

  /** No record marks the end of the log: load what was written before the stream began. */
  async #bridge(source: LogSource, filter: RowFilter): Promise<void> {
    const { signal } = this.#following;
    try {
      const request = { direction: 'older', from: 'end', limit: PAGE_RECORDS, filter } as const;
      const { records } = await source.page(request, { signal, budgetMs: SLICE_MS });
      if (signal.aborted) return;
      const { buffer } = this.#deps.store.state;
      const rows = records.map(recordRow).filter(({ key }) => !buffer.has(key));
      this.#incoming.unshift(...rows);
    } catch (error) {
      // The stream reports the same failure.
      assertRequestFailed(error, signal);
    }
    if (signal.aborted) return;
    this.#isBridging = false;
    this.#schedule();
  }

  async #tick(): Promise<void> {
    const { clock } = this.#deps;
    const { signal } = this.#following;
    while (!signal.aborted) {
      await clock.wait(TICK_MS, signal);
      if (signal.aborted) return;
      if (this.#meter.tick(clock.now())) this.#schedule();
    }
  }

  /** Shows new records at most once per frame. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#deps.clock.schedule(() => {
      this.#isScheduled = false;
      if (this.#mode !== 'off') this.#flush();
    });
  }

  #flush(): void {
    this.#publish(this.#isBridging ? [] : this.#incoming.splice(0));
  }

  #publish(rows: readonly Row[] = []): void {
    this.#deps.store.dispatch({ type: 'followed', rows, follow: this.#status() });
  }

  #status(): FollowStatus {
    const reason = this.#reason;
    const state = this.#mode === 'live' && reason !== null ? 'reconnecting' : this.#mode;
    return { ...this.#meter.counts, reason, state };
  }
}

type Counts = Pick<FollowStatus, 'newRecords' | 'newErrors' | 'linesPerSecond' | 'lagMs'>;

/** The rate is averaged over this many whole seconds. */
const SECONDS = 5;

/** Rates and counts of a stream. */
class FollowMeter {
  readonly #rate = new FollowRate();
  #counts: Counts = { newRecords: 0, newErrors: 0, linesPerSecond: 0, lagMs: null };

  get counts(): Counts {
    return this.#counts;
  }

  note(records: readonly ShownRecord[], { nowMs, isPaused }: { nowMs: number; isPaused: boolean }): void {
    this.#rate.note(records.length, nowMs);
    const counts = { ...this.#counts, linesPerSecond: this.#rate.perSecond(nowMs) };
    const atMs = records.at(-1)?.atMs;
    if (atMs !== undefined) counts.lagMs = Math.max(0, nowMs - atMs);
    if (isPaused) {
      counts.newRecords += records.length;
      counts.newErrors += records.filter(({ level }) => level === 'ERROR' || level === 'FATAL').length;
    }
    this.#counts = counts;
  }

  resetCounts(): void {
    this.#counts = { ...this.#counts, newRecords: 0, newErrors: 0 };
  }

  /** Whether the rate has changed because nothing arrived. */
  tick(nowMs: number): boolean {
    const linesPerSecond = this.#rate.perSecond(nowMs);
    if (linesPerSecond === this.#counts.linesPerSecond) return false;
    this.#counts = { ...this.#counts, linesPerSecond };
    return true;
  }
}

/** Records per second. */
class FollowRate {
  readonly #counts = new Map<number, number>();

  note(count: number, nowMs: number): void {
    if (count === 0) return;
    const second = Math.floor(nowMs / 1000);
    this.#counts.set(second, (this.#counts.get(second) ?? 0) + count);
    this.#forgetBefore(second - SECONDS);
  }

  perSecond(nowMs: number): number {
    this.#forgetBefore(Math.floor(nowMs / 1000) - SECONDS);
    let sum = 0;
    for (const count of this.#counts.values()) sum += count;
    return Math.round((sum / SECONDS) * 10) / 10;
  }

  #forgetBefore(second: number): void {
    for (const known of this.#counts.keys()) if (known <= second) this.#counts.delete(known);
  }
}
