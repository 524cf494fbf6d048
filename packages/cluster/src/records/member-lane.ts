import { type ClusterRecord, type MemberClock, type MemberReport, PortholeError } from '@porthole/contract';
import type { FoundRecord, SearchEnd, SearchItem } from '@porthole/logs/types';
import { outcomeOf } from '../fan-out/outcome-of.ts';
import { tooLate } from '../fan-out/with-deadline.ts';
import type { MemberWords } from '../state/member-words.ts';
import { rangeOf } from './cluster-coverage.ts';
import type { Keyed } from './lane-heap.ts';
import type { InsteadOf } from './open-or-kept.ts';
import { isTime, ownFields, tellRecord } from './tell-record.ts';

export interface LaneOptions {
  /** Among the lanes: decides between records of the same time. */
  place: number;
  id: string;
  clock: MemberClock;
  newestFirst: boolean;
  open(signal: AbortSignal): AsyncIterable<SearchItem[]>;
  firstBatchMs: number;
  /** All waiting for it together. */
  timeoutMs: number;
  /** What is said of it where its snapshot is searched in its place. */
  instead?: () => InsteadOf | undefined;
}

const NOTHING: FoundRecord[] = [];

/** Of the time for first records, what a member has in any case, however late its turn came. */
const LEAST_SHARE = 0.25;

/** One member among those told together: its stream, the batch at hand, and what was told of it. */
export class MemberLane implements Keyed {
  readonly place: number;
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
  told = 0;
  /** Corrected time of the last one told that has one. */
  lastAtMs: number | undefined;
  readonly #options: LaneOptions;
  readonly #leaving = new AbortController();
  /** The last record told of each file, the newest told last. */
  readonly #cursors = new Map<string, string>();
  #last: FoundRecord | undefined;
  #onChange: (lane: MemberLane) => void = () => {};
  #batches: AsyncIterator<SearchItem[]> | undefined;
  #batch = NOTHING;
  #at = 0;
  /** Items that are no records. */
  #skipped = 0;
  #leftMs: number;
  #firstTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #madeMs = performance.now();
  #openedMs = 0;
  #elapsedMs: number | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.place = options.place;
    this.id = options.id;
    this.uncertaintyMs = options.clock.uncertaintyMs;
    this.#leftMs = options.timeoutMs;
  }

  /** The snapshot that is searched in its place. */
  get snapshot(): MemberWords | undefined {
    return this.#options.instead?.()?.snapshot;
  }

  /** The last one told. */
  get last(): Pick<FoundRecord, 'file' | 'offset'> | undefined {
    return this.#last;
  }

  get hasNext(): boolean {
    return this.#at < this.#batch.length;
  }

  /** Cursors of what was told last, by file; the last one told is the last one here. */
  get toldCursors(): ReadonlyMap<string, string> {
    this.#noteLast();
    return this.#cursors;
  }

  /** What its closing record says it covered, by this node's clock; `null`: nothing, `undefined`: it has not come. */
  get ownCoverage(): { fromMs: number; toMs: number } | null | undefined {
    return this.end && rangeOf(this.end, this.#options.clock.offsetMs);
  }

  /** Times, by this node's clock, of the records that it gave and that were not taken. */
  leftTimes(): number[] {
    const { offsetMs } = this.#options.clock;
    return this.#batch.slice(this.#at).flatMap(({ timeMs }) => (isTime(timeMs) ? [timeMs - offsetMs] : []));
  }

  /** Asks the member. `onChange` is called whenever records have come, nothing will come, or it is late. */
  open(onChange: (lane: MemberLane) => void): void {
    this.#onChange = onChange;
    this.#openedMs = performance.now();
    // Counted from when the question was asked: opening many members takes time, and whoever asked waits for all of it.
    const waitedMs = this.#openedMs - this.#madeMs;
    const { firstBatchMs } = this.#options;
    const leftMs = Math.max(firstBatchMs * LEAST_SHARE, firstBatchMs - waitedMs);
    this.#firstTimer = setTimeout(() => this.#leaveBehind(), leftMs);
    this.pull();
  }

  /** Goes on reading until records are at hand or it is over. */
  pull(): void {
    void this.#read();
  }

  /** The record at hand, as it is told. Only where there is one. */
  take(isUnsure: boolean): ClusterRecord {
    const record = this.#batch[this.#at++] as FoundRecord;
    const { timeMs } = record;
    if (isTime(timeMs)) this.lastAtMs = timeMs - this.#options.clock.offsetMs;
    if (record.file !== this.#last?.file) this.#noteLast();
    this.#last = record;
    this.told++;
    this.#lookAt();
    return tellRecord(record, { node: this.id, atMs: isTime(timeMs) ? this.lastAtMs : undefined, isUnsure });
  }

  /** Ends it. Whoever holds the stream's other end is told, but not waited for where it does not listen. */
  async close(): Promise<void> {
    clearTimeout(this.#firstTimer);
    this.#elapsedMs ??= this.#openedMs === 0 ? 0 : performance.now() - this.#openedMs;
    this.isOver = true;
    this.#leaving.abort();
    await this.#batches?.return?.().catch(() => {}); // it has nothing to say any more
  }

  report(): MemberReport {
    const elapsedMs = Math.round(this.#elapsedMs ?? performance.now() - this.#openedMs);
    const { snapshot: _snapshot, ...instead } = this.#options.instead?.() ?? {};
    return { id: this.id, asOfMs: null, ...this.#outcome(), ...instead, elapsedMs, count: this.told };
  }

  #outcome(): Pick<MemberReport, 'outcome' | 'detail' | 'isPartial'> {
    if (this.problem !== undefined) return outcomeOf(this.problem);
    if (this.isLate && !this.hasAnswered) return outcomeOf(tooLate(this.#options.firstBatchMs));
    const isCut = this.isLate && this.end === undefined;
    if (isCut) return { outcome: 'ok', detail: 'its records were late: not all of them are here', isPartial: true };
    const left = this.#leftOut();
    return left === undefined ? { outcome: 'ok', detail: null } : { outcome: 'version', detail: left, isPartial: true };
  }

  #brokenOff(): PortholeError {
    const left = this.#leftOut();
    if (left !== undefined) return new PortholeError('BAD_ANSWER', left);
    return new PortholeError('UNREACHABLE', 'its answer broke off before its end');
  }

  /** What of its response made no sense: it may come from a later version. */
  #leftOut(): string | undefined {
    if (this.#skipped > 0) return `${this.#skipped} invalid items in its response were left out`;
    const problems = Array.isArray(this.end?.problems) ? this.end.problems : [];
    return problems.find(({ code }) => code === 'BAD_ANSWER')?.detail;
  }

  async #read(): Promise<void> {
    const startedMs = performance.now();
    const timer = setTimeout(() => this.#fail(tooLate(this.#options.timeoutMs)), this.#leftMs);
    try {
      this.#batches ??= this.#options.open(this.#leaving.signal)[Symbol.asyncIterator]();
      while (!this.isOver && !this.hasNext) {
        const { done, value } = await this.#batches.next();
        if (this.isOver) return;
        if (done) throw this.#brokenOff();
        this.#take(value);
        if (!this.hasAnswered) this.#answered();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      clearTimeout(timer);
      this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - startedMs));
      if (this.hasNext || this.isOver) clearTimeout(this.#firstTimer);
      this.#onChange(this);
    }
  }

  #answered(): void {
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
      records.push(ownFields(item));
    }
    this.#batch = records;
    this.#at = 0;
    this.#lookAt();
    if (this.end) this.#finish();
  }

  /** The key of the record at hand. */
  #lookAt(): void {
    const record = this.#batch[this.#at];
    if (record === undefined) {
      this.#batch = NOTHING;
      this.#at = 0;
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

  #leaveBehind(): void {
    this.isLate = true;
    this.#onChange(this);
  }

  #fail(error: unknown): void {
    if (this.isOver) return;
    this.problem = error ?? new PortholeError('INTERNAL', 'it failed without a reason');
    this.#finish();
    this.#leaving.abort(error);
    this.#onChange(this);
  }

  #finish(): void {
    this.isOver = true;
    this.#elapsedMs = performance.now() - this.#openedMs;
    // It may be stuck where it does not hear this; nobody waits for it.
    this.#batches?.return?.().catch(() => {});
  }
}
