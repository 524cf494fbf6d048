import type { ClusterFollowItem } from '@porthole/client';
import { assertRequestFailed, type Problem, toProblem } from '../../state/to-problem.ts';
import { formatBytes, formatCount } from '../../ui/format.ts';
import { appendLive, reportMembers, resumeAtEnd } from '../model/reduce.ts';
import { RowBuffer, recordRow } from '../model/row-buffer.ts';
import type { FollowStatus, GapRange, Row } from '../model/workspace-state.ts';
import { isAtLeast, type LogSource, type RowFilter, recordKey, type ShownRecord } from '../source/log-source.ts';
import { Attempt, PAGE_RECORDS, SLICE_MS, type WorkspaceDeps } from './workspace-deps.ts';

/** How often the rate is updated; it falls while nothing arrives. */
const TICK_MS = 1000;

/** A follow begins this long before the last row. */
const OVERLAP_MS = 5000;

/** New records while the workspace is open: shown as they arrive, or counted and held while paused. */
export class LiveTail {
  readonly #deps: Pick<WorkspaceDeps, 'store' | 'clock'>;
  readonly #followRows = new FollowRows();
  readonly #pendingRows = new PendingRows();
  #mode: 'off' | 'live' | 'paused' = 'off';
  #isFollowing = false;
  readonly #following = new Attempt();
  #incoming: Row[] = [];
  /** New records wait until those written before the stream began are loaded. */
  #isBridging = false;
  #isScheduled = false;
  #meter = new FollowMeter();
  #reason: string | null = null;

  constructor(deps: Pick<WorkspaceDeps, 'store' | 'clock'>) {
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

  /** The rows could not be loaded, and are asked for again. */
  noteFailure(reason: string): void {
    this.#reason = reason;
    this.#publish();
  }

  /**
   * Follows after the last row of the window, or from now on if the window is elsewhere. Returns why it cannot be followed;
   * `null` if it was ended.
   */
  async follow(source: LogSource, filter: RowFilter): Promise<Problem | null> {
    const signal = this.#following.begin();
    const { isAtEnd, buffer } = this.#deps.store.state;
    const { first, last, rows } = isAtEnd ? buffer : RowBuffer.EMPTY;
    // The stream may repeat some of them.
    const known = new Set(rows.map(({ key }) => key));
    const lastMs = last?.atMs;
    const from = lastMs === undefined ? 'end' : { timeMs: followStart(lastMs, first?.atMs) };
    this.#isBridging = isAtEnd && from === 'end';
    this.#isFollowing = true;
    void this.#tick(signal);
    let hasBegun = false;
    try {
      for await (const items of source.follow({ from, filter }, { signal })) {
        if (signal.aborted) return null;
        if (!hasBegun && this.#isBridging) void this.#bridge(source, filter, signal);
        hasBegun = true;
        this.#take(items.filter((item) => item.type !== 'record' || !known.has(recordKey(item))));
      }
      return null;
    } catch (error) {
      return signal.aborted ? null : toProblem(error);
    }
  }

  end(): void {
    this.#following.end();
    this.#isFollowing = false;
    this.#mode = 'off';
    this.#incoming = [];
    this.#isBridging = false;
    this.#pendingRows.clear();
    this.#meter = new FollowMeter();
    this.#reason = null;
  }

  /** Nothing more is followed. If it failed and there are rows, one says so; otherwise, the failure is shown instead of them. */
  leave(failure?: Problem): void {
    if (this.#mode === 'live') this.#flush();
    const { buffer } = this.#deps.store.state;
    this.end();
    const isSaid = failure === undefined || buffer.rows.length === 0;
    this.#publish(isSaid ? [] : [this.#followRows.problem(null, `No longer followed: ${failure.detail}`)]);
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
    if (this.#mode === 'off' || !this.#isFollowing || !isAtEnd) return false;
    const { rows, dropped, first } = this.#pendingRows.take();
    if (dropped > 0) {
      const range = buffer.last && first ? { node: null, after: buffer.last, until: first } : null;
      rows.unshift(this.#followRows.gap(`${formatCount(dropped)} records not shown: written while paused`, range));
    }
    this.#mode = 'live';
    this.#meter.resetCounts();
    this.#deps.store.change((state) => ({ ...resumeAtEnd(state, rows), follow: this.#status() }));
    return true;
  }

  #take(items: readonly ClusterFollowItem[]): void {
    const { clock, store } = this.#deps;
    const lost = items.findLast((item) => item.type === 'reconnecting' && !('node' in item));
    if (lost?.type === 'reconnecting') this.#onConnectionLost(lost.reason);
    else this.#reason = null;
    const reports = items.flatMap((item) => (item.type === 'member' ? [item.report] : []));
    if (reports.length > 0) store.change(reportMembers, 'follow', reports);
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
    if (this.#reason === null) this.#add([this.#followRows.problem(null, 'Connection lost · retrying')]);
    this.#reason = reason;
    this.#schedule();
  }

  /** No time marks the end of the log: load what was written before the stream began. */
  async #bridge(source: LogSource, filter: RowFilter, signal: AbortSignal): Promise<void> {
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

  async #tick(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
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
    this.#deps.store.change((state) => ({ ...appendLive(state, rows), follow: this.#status() }));
  }

  #status(): FollowStatus {
    const reason = this.#reason;
    const state = this.#mode === 'live' && reason !== null ? 'reconnecting' : this.#mode;
    return { ...this.#meter.counts, reason, state };
  }
}

/** Before the last row, because slow members may write older records a little later; but not before the first one. */
function followStart(lastMs: number, firstMs = -Infinity): number {
  return Math.min(lastMs, Math.max(lastMs - OVERLAP_MS, firstMs + 1));
}

type Counts = Pick<FollowStatus, 'newRecords' | 'newErrors' | 'linesPerSecond' | 'lagMs'>;

/** The rate is averaged over this many whole seconds. */
const SECONDS = 5;

/** Rates and counts of a stream. */
class FollowMeter {
  #counts: Counts = { newRecords: 0, newErrors: 0, linesPerSecond: 0, lagMs: null };
  /** Records that arrived, by second. */
  readonly #arrived = new Map<number, number>();

  get counts(): Counts {
    return this.#counts;
  }

  note(records: readonly ShownRecord[], { nowMs, isPaused }: { nowMs: number; isPaused: boolean }): void {
    const second = Math.floor(nowMs / 1000);
    if (records.length > 0) this.#arrived.set(second, (this.#arrived.get(second) ?? 0) + records.length);
    const counts = { ...this.#counts, linesPerSecond: this.#perSecond(nowMs) };
    const atMs = records.at(-1)?.atMs;
    if (atMs !== undefined) counts.lagMs = Math.max(0, nowMs - atMs);
    if (isPaused) {
      counts.newRecords += records.length;
      counts.newErrors += records.filter(({ level }) => isAtLeast(level, 'ERROR')).length;
    }
    this.#counts = counts;
  }

  resetCounts(): void {
    this.#counts = { ...this.#counts, newRecords: 0, newErrors: 0 };
  }

  /** Whether the rate has changed because nothing arrived. */
  tick(nowMs: number): boolean {
    const linesPerSecond = this.#perSecond(nowMs);
    if (linesPerSecond === this.#counts.linesPerSecond) return false;
    this.#counts = { ...this.#counts, linesPerSecond };
    return true;
  }

  #perSecond(nowMs: number): number {
    const last = Math.floor(nowMs / 1000) - SECONDS;
    for (const second of this.#arrived.keys()) if (second <= last) this.#arrived.delete(second);
    let sum = 0;
    for (const count of this.#arrived.values()) sum += count;
    return Math.round((sum / SECONDS) * 10) / 10;
  }
}

export const MAX_HELD = 2000;

/** Rows that arrived while paused: the newest records and the notices between them. */
export class PendingRows {
  #rows: Row[] = [];
  #dropped = 0;

  add(rows: readonly Row[]): void {
    for (const row of rows) this.#rows.push(row);
    // Rarely: each row moves once per as many rows as are held.
    if (this.#rows.length > 2 * MAX_HELD) this.#trim();
  }

  /** All held rows, the number of records dropped before them, and the first record left. */
  take(): { rows: Row[]; dropped: number; first: ShownRecord | undefined } {
    this.#trim();
    const rows = this.#rows;
    const dropped = this.#dropped;
    this.clear();
    return { rows, dropped, first: rows.find((row) => row.kind === 'record')?.record };
  }

  clear(): void {
    this.#rows = [];
    this.#dropped = 0;
  }

  #trim(): void {
    let excess = -MAX_HELD;
    for (const { kind } of this.#rows) if (kind === 'record') excess++;
    for (let index = 0; excess > 0; index++) {
      if (this.#rows[index]?.kind !== 'record') continue;
      this.#dropped++;
      excess--;
      if (excess === 0) this.#rows = this.#rows.slice(index + 1);
    }
  }
}

type ItemOfType<Type extends ClusterFollowItem['type']> = Extract<ClusterFollowItem, { type: Type }>;

type MemberItem = ItemOfType<'member'>;

/** Members named in a row; the rest is a count. */
const MAX_NAMED = 3;

const GAP_REASONS: Readonly<Record<ItemOfType<'gap'>['reason'], string>> = {
  slow: 'the connection was too slow',
  truncated: 'the file was truncated while it was read',
  gone: 'the position is no longer in the log',
};

/** Turns the items of a follow stream into rows. */
class FollowRows {
  #count = 0;

  /** Members that fail at the same time share one row; where the recording of one ends, a row says so already. */
  toRows(all: readonly ClusterFollowItem[]): Row[] {
    const items = all.filter((item) => item.type !== 'member' || item.report.asOfMs === null);
    const failed = items.filter((item) => item.type === 'member' && item.report.outcome !== 'ok') as MemberItem[];
    const hasMany = failed.length > 1;
    const rows = items
      .filter((item) => !(hasMany && failed.includes(item as MemberItem)))
      .map((item) => this.#toRow(item))
      .filter((row) => row !== undefined);
    return hasMany ? [...rows, this.problem(null, failedText(failed))] : rows;
  }

  /** `undefined` for items that only report a status. */
  #toRow(item: ClusterFollowItem): Row | undefined {
    switch (item.type) {
      case 'record':
        return recordRow(item);
      case 'gap':
        return this.#toGapRow(item);
      case 'rotated':
        return this.event(item.node, `${item.from} was rotated: reading ${item.to}`);
      case 'truncated': {
        const lost = item.lostBytes === null ? '' : `, ${formatBytes(item.lostBytes)} not read`;
        return this.problem(item.node, `${item.file} was truncated${lost}: reading it from its start`);
      }
      case 'behind':
        return this.event(item.node, item.behindBytes > 0 ? `${formatBytes(item.behindBytes)} behind` : 'caught up');
      case 'missing':
        return this.problem(item.node, `${item.family} does not exist at the moment`);
      case 'member':
        if (item.report.outcome === 'ok') return this.event(item.node, 'is followed again');
        return this.problem(item.node, `cannot be followed (${reportText(item)})`);
      case 'reconnecting':
        if (!('node' in item)) return undefined;
        return this.problem(null, `Connection to ${item.node} lost · retrying`);
      case 'skipped':
        return this.problem('node' in item ? item.node : null, item.detail);
      case 'end':
        return undefined;
    }
  }

  event(node: string | null, text: string): Row {
    return { kind: 'event', key: this.#newKey('event'), node, text, isProblem: false };
  }

  problem(node: string | null, text: string): Row {
    return { kind: 'event', key: this.#newKey('event'), node, text, isProblem: true };
  }

  /** A row for missing records; without a range they cannot be loaded. */
  gap(text: string, range: GapRange | null): Row {
    const node = range?.node ?? null;
    return { kind: 'gap', key: this.#newKey('gap'), node, text, isLoading: false, ...(range && { range }) };
  }

  #toGapRow({ node, family, reason, bytes, after, until }: ItemOfType<'gap'>): Row {
    const size = bytes === null ? 'Records' : formatBytes(bytes);
    const text = `${size} of ${family} not shown: ${GAP_REASONS[reason]}`;
    const range =
      after === null
        ? null
        : { node, after: { node, cursor: after }, until: until === null ? null : { node, cursor: until } };
    return { ...this.gap(text, range), node } as Row;
  }

  #newKey(kind: string): string {
    return `${kind} ${++this.#count}`;
  }
}

function reportText({ report: { outcome, detail } }: MemberItem): string {
  return detail === null ? outcome : `${outcome}: ${detail}`;
}

/** `20 nodes cannot be followed: n1 (timeout), n2 (timeout), n3 (refused) and 17 more` */
function failedText(items: readonly MemberItem[]): string {
  const named = items.slice(0, MAX_NAMED).map((item) => `${item.node} (${reportText(item)})`);
  const more = items.length > MAX_NAMED ? ` and ${items.length - MAX_NAMED} more` : '';
  return `${items.length} nodes cannot be followed: ${named.join(', ')}${more}`;
}
