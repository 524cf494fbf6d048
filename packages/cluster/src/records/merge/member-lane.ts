import { type ClusterRecord, type MemberClock, type MemberReport, PortholeError } from '@porthole/contract';
import type { FoundRecord, SearchEnd, SearchItem } from '@porthole/logs/types';
import { toOutcome } from '../../fan-out/to-outcome.ts';
import { deadlineExceeded } from '../../fan-out/with-deadline.ts';
import type { MemberSnapshot } from '../../state/snapshots/member-snapshot.ts';
import { coveredRange } from '../search/cluster-coverage.ts';
import type { SnapshotReport } from '../search/open-or-snapshot.ts';
import { isTime, stripClusterFields, toClusterRecord } from '../to-cluster-record.ts';
import type { Keyed } from './lane-heap.ts';

export interface LaneOptions {
  /** Among the lanes: decides between records of the same time. */
  index: number;
  id: string;
  clock: MemberClock;
  newestFirst: boolean;
  open(signal: AbortSignal): AsyncIterable<SearchItem[]>;
  firstBatchMs: number;
  /** All waiting for it together. */
  timeoutMs: number;
  /** What is said of it where its snapshot is searched in its place. */
  instead?: () => SnapshotReport | undefined;
}

const NOTHING: FoundRecord[] = [];

/** Of the time for first records, what a member has in any case, however late its turn came. */
const MIN_SHARE = 0.25;

/** One member among those told together: its stream, the batch at hand, and what was told of it. */
export class MemberLane implements Keyed {
  readonly index: number;
  readonly id: string;
  readonly uncertaintyMs: number;
  /** Of the record at hand. Never falls: a record out of order, or without a time, stays behind the one before it. */
  key = -Infinity;
  /** It has given something, if only the empty batch. */
  hasAnswered = false;
  /** Its first records were not there in time: the others are told without it. */
  isLate = false;
  /** Nothing comes from it any more, beside what is at hand. */
  isOver = false;
  end: SearchEnd | undefined;
  /** What it failed with. */
  problem: unknown;
  delivered = 0;
  /** Corrected time of the last one told that has one. */
  lastAtMs: number | undefined;
  readonly #options: LaneOptions;
  readonly #abortController = new AbortController();
  /** The last record told of each file, the newest told last. */
  readonly #cursors = new Map<string, string>();
  #last: FoundRecord | undefined;
  #onChange: (lane: MemberLane) => void = () => {};
  #batches: AsyncIterator<SearchItem[]> | undefined;
  #batch = NOTHING;
  #index = 0;
  /** Items that are no records. */
  #skipped = 0;
  #remainingMs: number;
  #firstTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #createdMs = performance.now();
  #openedMs = 0;
  #elapsedMs: number | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.index = options.index;
    this.id = options.id;
    this.uncertaintyMs = options.clock.uncertaintyMs;
    this.#remainingMs = options.timeoutMs;
  }

  /** The snapshot that is searched in its place. */
  get snapshot(): MemberSnapshot | undefined {
    return this.#options.instead?.()?.snapshot;
  }

  /** The last one told. */
  get last(): Pick<FoundRecord, 'file' | 'offset'> | undefined {
    return this.#last;
  }

  get hasNext(): boolean {
    return this.#index < this.#batch.length;
  }

  /** Cursors of what was told last, by file; the last one told is the last one here. */
  get deliveredCursors(): ReadonlyMap<string, string> {
    this.#noteLast();
    return this.#cursors;
  }

  /** What its closing record says it covered, by this node's clock; `null`: nothing, `undefined`: it has not come. */
  get ownCoverage(): { fromMs: number; toMs: number } | null | undefined {
    return this.end && coveredRange(this.end, this.#options.clock.offsetMs);
  }

  /** Times, by this node's clock, of the records that it gave and that were not taken. */
  undeliveredTimes(): number[] {
    const { offsetMs } = this.#options.clock;
    return this.#batch.slice(this.#index).flatMap(({ timeMs }) => (isTime(timeMs) ? [timeMs - offsetMs] : []));
  }

  /** Asks the member. `onChange` is called whenever records have come, nothing will come, or it is late. */
  open(onChange: (lane: MemberLane) => void): void {
    this.#onChange = onChange;
    this.#openedMs = performance.now();
    // Counted from when the question was asked: opening many members takes time, and whoever asked waits for all of it.
    const waitedMs = this.#openedMs - this.#createdMs;
    const { firstBatchMs } = this.#options;
    const remainingMs = Math.max(firstBatchMs * MIN_SHARE, firstBatchMs - waitedMs);
    this.#firstTimer = setTimeout(() => this.#markLate(), remainingMs);
    this.pull();
  }

  /** Goes on reading until records are at hand or it is over. */
  pull(): void {
    void this.#read();
  }

  /** The record at hand, as it is told. Only where there is one. */
  take(isUnsure: boolean): ClusterRecord {
    const record = this.#batch[this.#index++] as FoundRecord;
    const { timeMs } = record;
    if (isTime(timeMs)) this.lastAtMs = timeMs - this.#options.clock.offsetMs;
    if (record.file !== this.#last?.file) this.#noteLast();
    this.#last = record;
    this.delivered++;
    this.#updateKey();
    return toClusterRecord(record, { node: this.id, atMs: isTime(timeMs) ? this.lastAtMs : undefined, isUnsure });
  }

  /** Ends it. Whoever holds the stream's other end is told, but not waited for where it does not listen. */
  async close(): Promise<void> {
    clearTimeout(this.#firstTimer);
    this.#elapsedMs ??= this.#openedMs === 0 ? 0 : performance.now() - this.#openedMs;
    this.isOver = true;
    this.#abortController.abort();
    await this.#batches?.return?.().catch(() => {}); // it has nothing to say any more
  }

  report(): MemberReport {
    const elapsedMs = Math.round(this.#elapsedMs ?? performance.now() - this.#openedMs);
    const { snapshot: _snapshot, ...instead } = this.#options.instead?.() ?? {};
    return { id: this.id, asOfMs: null, ...this.#outcome(), ...instead, elapsedMs, count: this.delivered };
  }

  #outcome(): Pick<MemberReport, 'outcome' | 'detail' | 'isPartial'> {
    if (this.problem !== undefined) return toOutcome(this.problem);
    if (this.isLate && !this.hasAnswered) return toOutcome(deadlineExceeded(this.#options.firstBatchMs));
    const isCut = this.isLate && this.end === undefined;
    if (isCut) return { outcome: 'ok', detail: 'its records were late: not all of them are here', isPartial: true };
    const skipped = this.#skippedDetail();
    return skipped === undefined
      ? { outcome: 'ok', detail: null }
      : { outcome: 'version', detail: skipped, isPartial: true };
  }

  #truncatedError(): PortholeError {
    const left = this.#skippedDetail();
    if (left !== undefined) return new PortholeError('BAD_ANSWER', left);
    return new PortholeError('UNREACHABLE', 'its answer broke off before its end');
  }

  /** What of its response made no sense: it may come from a later version. */
  #skippedDetail(): string | undefined {
    if (this.#skipped > 0) return `${this.#skipped} invalid items in its response were left out`;
    const problems = Array.isArray(this.end?.problems) ? this.end.problems : [];
    return problems.find(({ code }) => code === 'BAD_ANSWER')?.detail;
  }

  async #read(): Promise<void> {
    const startedMs = performance.now();
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
      this.#remainingMs = Math.max(0, this.#remainingMs - (performance.now() - startedMs));
      if (this.hasNext || this.isOver) clearTimeout(this.#firstTimer);
      this.#onChange(this);
    }
  }

  #markAnswered(): void {
    this.hasAnswered = true;
    this.#onChange(this);
  }

  #take(items: SearchItem[]): void {
    const records: FoundRecord[] = [];
    for (const item of items) {
      if (item?.type === 'end') {
        this.end = item;
        break;
      }
      // What comes over HTTP is decoded by the client, which says at the end what it left out.
      if (item?.type !== 'record' || typeof item.file !== 'string' || typeof item.cursor !== 'string') {
        this.#skipped++;
        continue;
      }
      records.push(stripClusterFields(item));
    }
    this.#batch = records;
    this.#index = 0;
    this.#updateKey();
    if (this.end) this.#finish();
  }

  /** The key of the record at hand. */
  #updateKey(): void {
    const record = this.#batch[this.#index];
    if (record === undefined) {
      this.#batch = NOTHING;
      this.#index = 0;
      return;
    }
    const { clock, newestFirst } = this.#options;
    const { timeMs } = record;
    if (!isTime(timeMs)) return;
    const atMs = timeMs - clock.offsetMs;
    const key = newestFirst ? -atMs : atMs;
    if (key > this.key) this.key = key;
  }

  #noteLast(): void {
    if (this.#last === undefined) return;
    this.#cursors.delete(this.#last.file);
    this.#cursors.set(this.#last.file, this.#last.cursor);
  }

  #markLate(): void {
    this.isLate = true;
    this.#onChange(this);
  }

  #fail(error: unknown): void {
    if (this.isOver) return;
    this.problem = error ?? new PortholeError('INTERNAL', 'it failed without a reason');
    this.#finish();
    this.#abortController.abort(error);
    this.#onChange(this);
  }

  #finish(): void {
    this.isOver = true;
    this.#elapsedMs = performance.now() - this.#openedMs;
    // It may be stuck where it does not hear this; nobody waits for it.
    this.#batches?.return?.().catch(() => {});
  }
}
