import { type MemberReport, PortholeError } from '@porthole/contract';
import { NO_WORK, owned } from '@porthole/logs/shared';
import type { SearchEnd } from '@porthole/logs/types';
import { cursorAt, isBatch, isBefore, originAt, type RecordBatch, sliceBatch } from '@porthole/records';
import { offsetAt, type SteppedClock, toOwnTime } from '../../fan-out/clock-steps.ts';
import type { MemberSnapshot } from '../../membership/snapshots/member-snapshot.ts';
import { deadlineExceeded } from '../../requests/bounded-calls.ts';
import { toOutcome } from '../../requests/member-failure.ts';
import { isTime } from '../to-cluster-record.ts';
import type { MemberRun } from './cluster-batch.ts';
import type { LaneItem } from './member-pages.ts';
import type { MergeLane, TakeOptions } from './merge-members.ts';

export interface LaneOptions {
  /** Breaks ties between records with the same time. */
  index: number;
  id: string;
  clock: SteppedClock;
  newestFirst: boolean;
  open(signal: AbortSignal): AsyncIterable<LaneItem>;
  firstBatchMs: number;
  /** Total wait time. */
  timeoutMs: number;
  /** Report fields if its snapshot is searched instead. */
  instead?: (() => SnapshotReport | undefined) | undefined;
  /** Why it is uncertain which of its records were asked for. */
  doubt?: string | undefined;
  /** What earlier pages have emitted, if it continues exactly there. */
  reached?: LaneReach | undefined;
}

/** Report fields of a member whose snapshot is searched. */
export interface SnapshotReport extends Pick<MemberReport, 'outcome' | 'detail' | 'asOfMs'> {
  snapshot: MemberSnapshot;
}

/** The key of the last emitted record, and how many records with this key were emitted. */
export interface LaneReach {
  key: number;
  count: number;
}

/** What a response needs to know about a member that was searched. */
export type QueriedLane = Pick<
  MemberLane,
  | 'id'
  | 'hasAnswered'
  | 'end'
  | 'lastEnd'
  | 'problem'
  | 'delivered'
  | 'snapshot'
  | 'reached'
  | 'disorderMs'
  | 'hasNext'
  | 'deliveredCursors'
  | 'ownCoverage'
  | 'undeliveredTimes'
  | 'report'
>;

/** What a stream is aborted with that is no longer read. */
const CLOSED = new PortholeError('UNREACHABLE', 'the response is no longer read');

const OVER = { done: true, value: undefined } as const;

/** Minimum fraction of the first-record timeout, however late the lane was opened. */
export const MIN_SHARE = 0.25;

/** One member of a merge: its stream, what it sent, and what of it was emitted. */
export class MemberLane implements MergeLane {
  readonly index: number;
  readonly id: string;
  readonly uncertaintyMs: number;
  /** Key of the current record. */
  key = -Infinity;
  /** Nothing more will come after what has come. */
  isOver = false;
  /** It sent something, if only the empty batch. */
  hasAnswered = false;
  /** Its first records missed the deadline: the others are emitted without it. */
  isLate = false;
  /** The end of the whole search. */
  end: SearchEnd | undefined;
  /** The error it failed with. */
  problem: unknown;
  delivered = 0;
  /** Set when it has emitted a record, or left one out that an earlier page has emitted. */
  reached: LaneReach | undefined;
  /** How far its records were out of order. */
  disorderMs = 0;
  readonly #options: LaneOptions;
  readonly #abortController = new AbortController();
  #onChange: (lane: MergeLane) => void = () => {};
  #stream: AsyncIterator<LaneItem> | undefined;
  /** What has come and was not emitted: the current batch, and more only while it settles. */
  #batches: RecordBatch[] = [];
  /** The index of the current record in the current batch. */
  #row = 0;
  /** All of the current page has come. */
  #hasPage = false;
  /** The end of the pages that have come. */
  #pageEnd: SearchEnd | undefined;
  #reading = NO_WORK;
  #remainingMs: number;
  #firstTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #createdMs = performance.now();
  /** How long it was waited for: while the others are, it takes no time. */
  #waitedMs = 0;
  #waitingSinceMs: number | undefined;
  #totalMs: number | undefined;
  /** The last emitted record per file, in order of emission. */
  readonly #cursors = new Map<string, string>();
  #last: { batch: RecordBatch; index: number; file: string } | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.index = options.index;
    this.id = options.id;
    this.uncertaintyMs = options.clock.uncertaintyMs;
    this.#remainingMs = options.timeoutMs;
    if (options.reached) this.key = options.reached.key;
  }

  get hasNext(): boolean {
    return this.#batches.length > 0;
  }

  get takenKey(): number {
    return this.reached?.key ?? -Infinity;
  }

  /** The snapshot that is searched instead. */
  get snapshot(): MemberSnapshot | undefined {
    return this.#options.instead?.()?.snapshot;
  }

  /** Its end, or that of the pages that have come. */
  get lastEnd(): SearchEnd | undefined {
    return this.end ?? this.#pageEnd;
  }

  /** Cursors of the last emitted records by file, in order of emission. */
  get deliveredCursors(): ReadonlyMap<string, string> {
    this.#noteLast();
    return this.#cursors;
  }

  /** Coverage of its closing record, by the clock of this node; `null`: nothing, `undefined`: not received yet. */
  get ownCoverage(): { fromMs: number; toMs: number } | null | undefined {
    return this.lastEnd && coveredRange(this.lastEnd, this.#options.clock);
  }

  /** Records that it sent and that were not emitted. */
  get #waiting(): number {
    return this.#batches.reduce((sum, { ends }) => sum + ends.length, -this.#row);
  }

  /** Times, by the clock of this node, of records that it sent and that were not emitted. */
  undeliveredTimes(): number[] {
    return this.#undelivered().flatMap(({ times }) =>
      Array.from(times).flatMap((timeMs) => this.#correct(timeMs) ?? []),
    );
  }

  report(): MemberReport {
    const elapsedMs = Math.round(this.#elapsedMs);
    const { snapshot: _snapshot, ...instead } = this.#options.instead?.() ?? {};
    return { id: this.id, asOfMs: null, ...this.#outcome(), ...instead, elapsedMs, count: this.delivered };
  }

  /** Sends the request. `onChange` is called when records arrive, the stream ends, or the lane is late. */
  open(onChange: (lane: MergeLane) => void): void {
    this.#onChange = onChange;
    // Measured from the start of the request: opening many members takes time, too.
    const waitedMs = performance.now() - this.#createdMs;
    const { firstBatchMs } = this.#options;
    const remainingMs = Math.max(firstBatchMs * MIN_SHARE, firstBatchMs - waitedMs);
    this.#firstTimer = setTimeout(() => this.#markLate(), remainingMs);
    this.pull();
  }

  /** Reads until there are records or the stream ends. */
  pull(): void {
    this.#reading = owned(this.#read(), (error) => this.#fail(error));
  }

  /** Takes the current record, and those that follow it in its batch. Only if there is one. */
  take({ isUnsure, most, before }: TakeOptions): MemberRun {
    const batch = this.#batches[0] as RecordBatch;
    const { times, originOf } = batch;
    const from = this.#row;
    const last = this.#lastOfRun(times, from, Math.min(times.length, from + most) - 1);
    const offsetMs = this.#offsetOf(times[from]);
    let atMs: number | undefined;
    let row = from;
    for (; ; row++) {
      this.#noteReached(this.key);
      atMs = this.#correct(times[row]) ?? atMs;
      if (row === last) break;
      if (originOf && originOf[row] !== originOf[row + 1]) this.#noteTaken(batch, row);
      this.key = this.#keyAfter(this.key, times[row + 1]);
      if (before !== undefined && !isBefore(this, before)) break;
    }
    this.#noteTaken(batch, row);
    const to = row + 1;
    this.delivered += to - from;
    this.#row = to;
    if (to === times.length) {
      this.#batches.shift();
      this.#row = 0;
      this.#updateKey();
    } else if (row === last) this.#updateKey();
    return { node: this.id, offsetMs, atMs, isUnsure, batch, from, to };
  }

  async settle(mostRecords: number): Promise<void> {
    await this.#reading;
    const most = this.#waiting + mostRecords;
    while (this.#stream && !this.isOver && !this.#hasPage && this.#waiting <= most) {
      const { done, value } = await this.#stream.next().catch(() => OVER); // its records are emitted; the next page reports it
      if (done || this.isOver) return;
      this.#receive(value);
    }
  }

  /** Leaves out a record of its stream that an earlier page has emitted: what follows continues after it. */
  skip(batch: RecordBatch, index: number): void {
    this.#noteTaken(batch, index);
    this.key = Math.max(this.key, this.#keyOf(batch.times[index]) ?? this.key);
    this.#noteReached(this.key);
  }

  /** Closes the stream. Does not wait for a stream that ignores the signal. */
  async close(): Promise<void> {
    clearTimeout(this.#firstTimer);
    this.#totalMs ??= this.#elapsedMs;
    // Without a reason of its own, each would create one with a stack trace.
    if (!this.isOver) this.#abortController.abort(CLOSED);
    this.isOver = true;
    await this.#stream?.return?.().catch(() => {}); // the lane is closed; its result no longer matters
  }

  get #elapsedMs(): number {
    const since = this.#waitingSinceMs;
    return this.#totalMs ?? this.#waitedMs + (since === undefined ? 0 : performance.now() - since);
  }

  async #read(): Promise<void> {
    const startedMs = performance.now();
    this.#waitingSinceMs = startedMs;
    const timer = setTimeout(() => this.#fail(deadlineExceeded(this.#options.timeoutMs)), this.#remainingMs);
    try {
      this.#stream ??= this.#options.open(this.#abortController.signal)[Symbol.asyncIterator]();
      while (!this.isOver && !this.hasNext) {
        const { done, value } = await this.#stream.next();
        if (this.isOver) return;
        if (done) throw this.#truncatedError();
        this.#receive(value);
        if (!this.hasAnswered) this.#markAnswered();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      clearTimeout(timer);
      const waitedMs = performance.now() - startedMs;
      this.#waitedMs += waitedMs;
      this.#waitingSinceMs = undefined;
      this.#remainingMs = Math.max(0, this.#remainingMs - waitedMs);
      if (this.hasNext || this.isOver) clearTimeout(this.#firstTimer);
      this.#onChange(this);
    }
  }

  #receive(item: LaneItem): void {
    this.#hasPage = !isBatch(item);
    if (isBatch(item)) {
      if (item.ends.length > 0 && this.#batches.push(item) === 1) this.#updateKey();
    } else if (item.type === 'page') this.#pageEnd = item.end;
    else {
      this.end = item;
      this.#finish();
    }
  }

  /** Updates the key of the current record, which was not current before. */
  #updateKey(): void {
    const [batch] = this.#batches;
    if (batch) this.key = this.#keyAfter(this.key, batch.times[this.#row]);
  }

  /** What it sent and was not emitted. */
  #undelivered(): RecordBatch[] {
    const [current, ...others] = this.#batches;
    return current ? [sliceBatch(current, this.#row, current.ends.length), ...others] : [];
  }

  /** All records of a run have the same offset. */
  #lastOfRun(times: Float64Array, first: number, last: number): number {
    if (!this.#options.clock.steps?.length) return last;
    const offsetMs = this.#offsetOf(times[first]);
    let row = first;
    while (row < last && this.#offsetOf(times[row + 1]) === offsetMs) row++;
    return row;
  }

  /** A time of the member by the clock of this node. */
  #correct(timeMs: number | undefined): number | undefined {
    return isTime(timeMs) ? timeMs - this.#offsetOf(timeMs) : undefined;
  }

  /** How far its clock was ahead when it showed this time. */
  #offsetOf(timeMs: number | undefined): number {
    const { clock } = this.#options;
    return isTime(timeMs) ? offsetAt(clock, timeMs) : clock.offsetMs;
  }

  /** The key of a record after one with this key. Never smaller: a record out of order or without a time stays behind it. */
  #keyAfter(key: number, timeMs: number | undefined): number {
    const own = this.#keyOf(timeMs);
    if (own === undefined) return key;
    if (own <= key) this.disorderMs = Math.max(this.disorderMs, key - own);
    return Math.max(key, own);
  }

  #keyOf(timeMs: number | undefined): number | undefined {
    const atMs = this.#correct(timeMs);
    return atMs === undefined || !this.#options.newestFirst ? atMs : -atMs;
  }

  #noteReached(key: number): void {
    const { reached } = this;
    if (reached === undefined) {
      const before = this.#options.reached;
      this.reached = { key, count: before?.key === key ? before.count + 1 : 1 };
      return;
    }
    reached.count = reached.key === key ? reached.count + 1 : 1;
    reached.key = key;
  }

  /** What follows continues after this record of its file. */
  #noteTaken(batch: RecordBatch, index: number): void {
    const { file } = originAt(batch, index);
    if (file !== this.#last?.file) this.#noteLast();
    this.#last = { batch, index, file };
  }

  #noteLast(): void {
    if (this.#last === undefined) return;
    const { batch, index, file } = this.#last;
    this.#cursors.delete(file);
    this.#cursors.set(file, cursorAt(batch, index));
  }

  #outcome(): Pick<MemberReport, 'outcome' | 'detail' | 'isPartial'> {
    if (this.problem !== undefined) return toOutcome(this.problem);
    const isCut = this.isLate && this.lastEnd === undefined;
    // The empty batch is no answer: it may have died since.
    const isEmpty = !this.hasAnswered || (this.delivered === 0 && !this.hasNext);
    if (isCut && isEmpty) return toOutcome(deadlineExceeded(this.#options.firstBatchMs));
    if (isCut) return { outcome: 'ok', detail: 'its records were late; some are missing', isPartial: true };
    const skipped = this.#skippedDetail();
    if (skipped !== undefined) return { outcome: 'version', detail: skipped, isPartial: true };
    const { doubt } = this.#options;
    return { outcome: 'ok', detail: doubt ?? null, ...(doubt !== undefined && { isPartial: true }) };
  }

  #truncatedError(): PortholeError {
    const skipped = this.#skippedDetail();
    if (skipped !== undefined) return new PortholeError('BAD_ANSWER', skipped);
    return new PortholeError('UNREACHABLE', 'the response was truncated');
  }

  /** What the client says of invalid items in its response: it may be a later version. */
  #skippedDetail(): string | undefined {
    const problems = Array.isArray(this.lastEnd?.problems) ? this.lastEnd.problems : [];
    return problems.find(({ code }) => code === 'BAD_ANSWER')?.detail;
  }

  #markAnswered(): void {
    this.hasAnswered = true;
    this.#onChange(this);
  }

  #markLate(): void {
    this.isLate = true;
    this.#onChange(this);
  }

  #fail(error: unknown): void {
    if (this.isOver) return;
    this.problem = error ?? new PortholeError('INTERNAL', 'the member failed without a reason');
    this.#finish();
    this.#abortController.abort(error);
    this.#onChange(this);
  }

  #finish(): void {
    this.isOver = true;
    this.#totalMs ??= this.#elapsedMs;
    // Not awaited: it may be stuck. Its result no longer matters.
    this.#stream?.return?.().catch(() => {});
  }
}

function coveredRange(
  { coveredFromMs, coveredToMs }: Pick<SearchEnd, 'coveredFromMs' | 'coveredToMs'>,
  clock: SteppedClock,
): { fromMs: number; toMs: number } | null {
  if (!isTime(coveredFromMs) || !isTime(coveredToMs) || coveredFromMs > coveredToMs) return null;
  return { fromMs: Math.ceil(toOwnTime(clock, coveredFromMs)), toMs: Math.floor(toOwnTime(clock, coveredToMs)) };
}
