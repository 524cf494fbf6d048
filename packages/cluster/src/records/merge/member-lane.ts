import { PortholeError } from '@porthole/contract';
import { NO_WORK, owned } from '@porthole/logs/shared';
import type { FoundRecord } from '@porthole/logs/types';
import { deadlineExceeded } from '../../fan-out/bounded-calls.ts';
import { stripClusterFields } from '../to-cluster-record.ts';
import { type BookOptions, LaneBook } from './lane-book.ts';
import { isBefore } from './lane-heap.ts';
import type { LaneItems } from './member-pages.ts';
import type { MergeLane, TakeOptions } from './merge-by-time.ts';
import { type LineRecord, LineRows, type MergedRecords } from './record-lines.ts';

export interface LaneOptions extends BookOptions {
  open(signal: AbortSignal): AsyncIterable<LaneItems>;
  /** Total wait time. */
  timeoutMs: number;
}

/** What a stream is aborted with that is no longer read. */
const CLOSED = new PortholeError('UNREACHABLE', 'the response is no longer read');

const NOTHING: (FoundRecord | LineRows)[] = [];

const OVER = { done: true, value: undefined } as const;

/** Minimum fraction of the first-record timeout, however late the lane was opened. */
export const MIN_SHARE = 0.25;

/** One member of a merge: its stream, the current batch, and what was emitted. */
export class MemberLane extends LaneBook implements MergeLane {
  /** Key of the current record. */
  key = -Infinity;
  /** Nothing more will come after the current batch. */
  isOver = false;
  readonly #options: LaneOptions;
  readonly #abortController = new AbortController();
  #onChange: (lane: MergeLane) => void = () => {};
  #batches: AsyncIterator<LaneItems> | undefined;
  #batch = NOTHING;
  #index = 0;
  /** Of the current record, if it is one of several lines. */
  #row = 0;
  /** All of the current page has come. */
  #hasPage = false;
  #reading = NO_WORK;
  #remainingMs: number;
  #firstTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #createdMs = performance.now();
  /** How long it was waited for: while the others are, it takes no time. */
  #waitedMs = 0;
  #waitingSinceMs: number | undefined;
  #elapsedMs: number | undefined;

  constructor(options: LaneOptions) {
    super(options);
    this.#options = options;
    this.#remainingMs = options.timeoutMs;
    if (options.reached) this.key = options.reached.key;
  }

  get hasNext(): boolean {
    return this.#index < this.#batch.length;
  }

  get takenKey(): number {
    return this.reached?.key ?? -Infinity;
  }

  /** Records that it sent and that were not emitted. */
  get waiting(): number {
    return this.#undelivered().reduce((sum, each) => sum + (each instanceof LineRows ? each.count : 1), 0);
  }

  undeliveredTimes(): number[] {
    return this.#undelivered().flatMap((each) => {
      const records = each instanceof LineRows ? each.records() : [each];
      return records.flatMap((record) => this.timeOf(record) ?? []);
    });
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

  /** Takes the current record, and the lines that follow it. Only if there is one. */
  take({ isUnsure, most, before }: TakeOptions): MergedRecords {
    const current = this.#batch[this.#index] as FoundRecord | LineRows;
    if (current instanceof LineRows) return this.#takeLines(current, { isUnsure, most, before });
    this.noteReached(this.key);
    const taken = this.deliver(current, isUnsure);
    this.#index++;
    this.#updateKey();
    return taken;
  }

  #takeLines(lines: LineRows, { isUnsure, most, before }: TakeOptions): MergedRecords {
    const { times, end } = lines;
    const first = this.#row;
    const last = this.#lastOfRun(times, first, Math.min(end, first + most) - 1);
    let atMs: number | undefined;
    let row = first;
    for (; ; row++) {
      this.noteReached(this.key);
      atMs = this.correct(times[row]) ?? atMs;
      if (row === last) break;
      this.key = this.keyAfter(this.key, times[row + 1]);
      if (before !== undefined && !isBefore(this, before)) break;
    }
    const taken = this.deliverLines(lines.slice(first, row + 1), { atMs, isUnsure });
    this.#row = row + 1;
    if (this.#row === end) {
      this.#index++;
      this.#updateKey();
    } else if (row === last) this.key = this.keyAfter(this.key, times[this.#row]);
    return taken;
  }

  /** All lines of a run have the same offset. */
  #lastOfRun(times: ArrayLike<number>, first: number, last: number): number {
    if (!this.#options.clock.steps?.length) return last;
    const offsetMs = this.offsetOf(times[first]);
    let row = first;
    while (row < last && this.offsetOf(times[row + 1]) === offsetMs) row++;
    return row;
  }

  async settle(mostRecords: number): Promise<void> {
    await this.#reading;
    const most = this.waiting + mostRecords;
    while (this.#batches && !this.isOver && !this.#hasPage && this.waiting <= most) {
      const { done, value } = await this.#batches.next().catch(() => OVER); // its records are emitted; the next page reports it
      if (done || this.isOver) return;
      this.#take(value);
    }
  }

  /** Leaves out a record of its stream that an earlier page has emitted: what follows continues after it. */
  skip(record: FoundRecord | LineRecord): void {
    this.noteSkipped(record);
    this.key = this.laterKey(this.key, record);
    this.noteReached(this.key);
  }

  /** Closes the stream. Does not wait for a stream that ignores the signal. */
  async close(): Promise<void> {
    clearTimeout(this.#firstTimer);
    this.#elapsedMs ??= this.elapsedMs;
    // Without a reason of its own, each would create one with a stack trace.
    if (!this.isOver) this.#abortController.abort(CLOSED);
    this.isOver = true;
    await this.#batches?.return?.().catch(() => {}); // the lane is closed; its result no longer matters
  }

  protected get elapsedMs(): number {
    const since = this.#waitingSinceMs;
    return this.#elapsedMs ?? this.#waitedMs + (since === undefined ? 0 : performance.now() - since);
  }

  #truncatedError(): PortholeError {
    const left = this.skippedDetail();
    if (left !== undefined) return new PortholeError('BAD_ANSWER', left);
    return new PortholeError('UNREACHABLE', 'the response was truncated');
  }

  async #read(): Promise<void> {
    const startedMs = performance.now();
    this.#waitingSinceMs = startedMs;
    const timer = setTimeout(() => this.#fail(deadlineExceeded(this.#options.timeoutMs)), this.#remainingMs);
    try {
      this.#batches ??= this.#options.open(this.#abortController.signal)[Symbol.asyncIterator]();
      while (!this.isOver && !this.hasNext) {
        const { done, value } = await this.#batches.next();
        if (this.isOver) return;
        if (done) throw this.#truncatedError();
        this.#take(value);
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

  #markAnswered(): void {
    this.hasAnswered = true;
    this.#onChange(this);
  }

  #take(items: LaneItems): void {
    // There are some only if it reads on to the end of the page.
    const records = this.#undelivered();
    const hadNext = records.length > 0;
    this.#hasPage = false;
    for (const item of items) {
      if (item instanceof LineRows) {
        records.push(item);
        continue;
      }
      if (item?.type === 'end') {
        this.end = item;
        this.#hasPage = true;
        break;
      }
      if (item?.type === 'page') {
        this.pageEnd = item.end;
        this.#hasPage = true;
        break;
      }
      // The client decodes HTTP responses and reports at the end what it skipped.
      if (item?.type !== 'record' || typeof item.file !== 'string' || typeof item.cursor !== 'string') {
        this.skipped++;
        continue;
      }
      records.push(stripClusterFields(item));
    }
    this.#batch = records;
    this.#index = 0;
    if (!hadNext) this.#updateKey();
    else if (records[0] instanceof LineRows) this.#row = records[0].first;
    if (this.end) this.#finish();
  }

  /** Updates the key of the current record, which was not current before. */
  #updateKey(): void {
    const current = this.#batch[this.#index];
    if (current === undefined) {
      this.#batch = NOTHING;
      this.#index = 0;
      return;
    }
    if (!(current instanceof LineRows)) this.key = this.keyAfter(this.key, current.timeMs);
    else {
      this.#row = current.first;
      this.key = this.keyAfter(this.key, current.times[this.#row]);
    }
  }

  /** What it sent and was not emitted. */
  #undelivered(): (FoundRecord | LineRows)[] {
    const [current, ...others] = this.#batch.slice(this.#index);
    if (current === undefined) return [];
    return [current instanceof LineRows ? current.slice(this.#row, current.end) : current, ...others];
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
    this.#elapsedMs ??= this.elapsedMs;
    // Not awaited: it may be stuck. Its result no longer matters.
    this.#batches?.return?.().catch(() => {});
  }
}
