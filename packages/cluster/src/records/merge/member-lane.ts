import { type MemberReport, PortholeError } from '@porthole/contract';
import { NO_WORK, owned, unneeded } from '@porthole/logs/shared';
import type { SearchEnd } from '@porthole/logs/types';
import {
  cursorAt,
  isBatch,
  type Keyed,
  type MergedRun,
  MergeLane,
  originAt,
  type RecordBatch,
} from '@porthole/records';
import { type SteppedClock, toOwnTime } from '../../fan-out/clock-steps.ts';
import type { RecordedMember } from '../../recorder/recordings.ts';
import { deadlineExceeded } from '../../requests/bounded-calls.ts';
import { toOutcome } from '../../requests/member-failure.ts';
import { isTime } from '../to-cluster-record.ts';
import type { LaneItem } from './member-pages.ts';

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
  /** Whether it is there: then its first records are waited for until the total wait time is used up. */
  isAlive?(): boolean;
  /** Report fields if what was recorded of it is searched instead. */
  instead?: (() => RecordedReport | undefined) | undefined;
  /** Why it is uncertain which of its records were asked for. */
  doubt?: string | undefined;
  /** What earlier pages have emitted, if it continues exactly there. */
  reached?: LaneReach | undefined;
}

/** Report fields of a member of which a recording is searched. */
export interface RecordedReport
  extends Pick<MemberReport, 'outcome' | 'detail' | 'asOfMs' | 'recordedBy' | 'missingMs' | 'isPartial'> {
  recorded: RecordedMember;
}

/** Merged records of one member in a row, with times by the clock of this node. */
export interface MemberRun extends MergedRun<RecordBatch> {
  node: string;
  /** The last time of theirs. */
  atMs: number | undefined;
  /** The keys of the first and the last one. */
  firstKey: number;
  lastKey: number;
  /** How exactly the clock of the member is known. */
  uncertaintyMs: number;
  /** Whether the order of the first one is not certain; the others follow a record of the same member. */
  isUnsure: boolean;
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
  | 'recorded'
  | 'reached'
  | 'disorderMs'
  | 'hasNext'
  | 'deliveredCursors'
  | 'firstCursors'
  | 'ownCoverage'
  | 'firstUndeliveredMs'
  | 'report'
>;

/** What a stream is aborted with that is no longer read. */
const CLOSED = new PortholeError('UNREACHABLE', 'the response is no longer read');

const OVER = { done: true, value: undefined } as const;

/** Minimum fraction of the first-record timeout, however late the lane was opened. */
export const MIN_SHARE = 0.25;

/** One member of a merge: its stream, what it sent, and what of it was emitted. */
export class MemberLane extends MergeLane<RecordBatch> {
  readonly id: string;
  readonly uncertaintyMs: number;
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
  /** Cursors of the first emitted records of a recording by file, in order of emission. */
  readonly firstCursors = new Map<string, string>();
  /** Set when it has emitted a record, or left one out that an earlier page has emitted. */
  reached: LaneReach | undefined;
  /** How far its records were out of order. */
  disorderMs = 0;
  readonly #options: LaneOptions;
  readonly #abortController = new AbortController();
  #onChange: (lane: MemberLane) => void = () => {};
  #stream: AsyncIterator<LaneItem> | undefined;
  /** What has come after the current batch, while it settles. */
  readonly #later: RecordBatch[] = [];
  /** The furthest key of what has come. */
  #furthestKey = -Infinity;
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
    super(options.index, options.newestFirst ? 'newest' : 'oldest');
    this.#options = options;
    this.id = options.id;
    this.uncertaintyMs = options.clock.uncertaintyMs;
    this.#remainingMs = options.timeoutMs;
    if (options.reached) this.key = options.reached.key;
  }

  /** What is searched instead. */
  get recorded(): RecordedMember | undefined {
    return this.#options.instead?.()?.recorded;
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
    return this.#undelivered().reduce((sum, times) => sum + times.length, 0);
  }

  /** By the clock of this node, the first time of what it sent and was not emitted; `undefined`: there is none. */
  get firstUndeliveredMs(): number | undefined {
    let first = Number.POSITIVE_INFINITY;
    for (const times of this.#undelivered())
      for (const timeMs of times) {
        const key = this.#keyOf(timeMs);
        if (key < first) first = key;
      }
    return Number.isFinite(first) ? this.#keyOf(first) : undefined;
  }

  report(): MemberReport {
    const elapsedMs = Math.round(this.#elapsedMs);
    const { recorded, ...instead } = this.#options.instead?.() ?? {};
    const outcome = this.#outcome();
    const report = { id: this.id, asOfMs: null, ...outcome, ...instead, elapsedMs, count: this.delivered };
    if (recorded === undefined || this.problem === undefined) return report;
    return { ...report, detail: `${report.detail}, which could not be read: ${outcome.detail}`, isPartial: true };
  }

  /** Sends the request. `onChange` is called when records arrive, the stream ends, or the lane is late. */
  open(onChange: (lane: MemberLane) => void): void {
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

  override take(most: number, other: Keyed | undefined): MemberRun {
    const firstKey = this.key;
    const { lane, batch, from, to } = super.take(most, other);
    const { times, originOf } = batch;
    let [key, atMs]: [number, number | undefined] = [firstKey, undefined];
    const isRecorded = this.recorded !== undefined;
    for (let row = from; row < to; row++) {
      const timeMs = times[row] as number;
      if (!Number.isNaN(timeMs)) {
        atMs = timeMs;
        key = Math.max(key, this.#keyOf(timeMs));
      }
      this.#noteReached(key);
      if (isRecorded) this.#noteFirst(batch, row);
      if (row === to - 1 || (originOf && originOf[row] !== originOf[row + 1])) this.#noteTaken(batch, row);
    }
    this.delivered += to - from;
    const { id: node, uncertaintyMs } = this;
    return { lane, batch, from, to, node, atMs, firstKey, lastKey: key, uncertaintyMs, isUnsure: false };
  }

  /**
   * Nothing more will be taken. Reads on to the end of the page it is in, unless that is more than so many records away:
   * only there it says what could not be read.
   */
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
    this.bound(this.#correct(batch.times[index] as number));
    this.#noteReached(this.key);
  }

  /** Closes the stream. Does not wait for a stream that ignores the signal. */
  async close(): Promise<void> {
    clearTimeout(this.#firstTimer);
    this.#totalMs ??= this.#elapsedMs;
    // Without a reason of its own, each would create one with a stack trace.
    if (!this.isOver) this.#abortController.abort(CLOSED);
    this.isOver = true;
    await unneeded(this.#stream?.return?.()); // the lane is closed; its result no longer matters
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
      if (item.ends.length === 0) return;
      const batch = { ...item, times: item.times.map((timeMs) => this.#correct(timeMs)) };
      this.#noteDisorder(batch.times);
      if (this.hasNext) this.#later.push(batch);
      else this.put(batch);
    } else if (item.type === 'page') this.#pageEnd = item.end;
    else {
      this.end = item;
      this.#finish();
    }
  }

  /** The times of what it sent and was not emitted. */
  #undelivered(): Float64Array[] {
    const current = this.batch?.times.subarray(this.at);
    return [...(current ? [current] : []), ...this.#later.map(({ times }) => times)];
  }

  /** A time of the member by the clock of this node. */
  #correct(timeMs: number): number {
    return isTime(timeMs) ? toOwnTime(this.#options.clock, timeMs) : Number.NaN;
  }

  #keyOf(timeMs: number): number {
    return this.#options.newestFirst ? -timeMs : timeMs;
  }

  /** What follows may be as much out of order. */
  #noteDisorder(times: Float64Array): void {
    let furthest = Math.max(this.#furthestKey, this.key);
    for (const timeMs of times) {
      const key = this.#keyOf(timeMs);
      if (key < furthest) this.disorderMs = Math.max(this.disorderMs, furthest - key);
      else if (key > furthest) furthest = key;
    }
    this.#furthestKey = furthest;
  }

  #noteReached(key: number): void {
    this.reached ??= { ...(this.#options.reached ?? { key: Number.NaN, count: 0 }) };
    const { reached } = this;
    reached.count = reached.key === key ? reached.count + 1 : 1;
    reached.key = key;
  }

  /** What follows continues after this record of its file. */
  #noteTaken(batch: RecordBatch, index: number): void {
    const { file } = originAt(batch, index);
    if (file !== this.#last?.file) this.#noteLast();
    this.#last = { batch, index, file };
  }

  #noteFirst(batch: RecordBatch, index: number): void {
    const { file } = originAt(batch, index);
    if (!this.firstCursors.has(file)) this.firstCursors.set(file, cursorAt(batch, index));
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
    if (this.#options.isAlive?.()) return; // its total wait time ends it
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
    void unneeded(this.#stream?.return?.());
  }
}

function coveredRange(
  { coveredFromMs, coveredToMs }: Pick<SearchEnd, 'coveredFromMs' | 'coveredToMs'>,
  clock: SteppedClock,
): { fromMs: number; toMs: number } | null {
  if (!isTime(coveredFromMs) || !isTime(coveredToMs) || coveredFromMs > coveredToMs) return null;
  return { fromMs: Math.ceil(toOwnTime(clock, coveredFromMs)), toMs: Math.floor(toOwnTime(clock, coveredToMs)) };
}
