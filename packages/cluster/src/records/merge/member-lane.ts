import { type MemberClock, type MemberReport, PortholeError } from '@porthole/contract';
import type { FoundRecord, SearchEnd, SearchItem } from '@porthole/logs/types';
import { deadlineExceeded } from '../../fan-out/bounded-calls.ts';
import { toOutcome } from '../../fan-out/member-failure.ts';
import type { MemberSnapshot } from '../../state/snapshots/member-snapshot.ts';
import { coveredRange } from '../search/cluster-coverage.ts';
import type { SnapshotReport } from '../search/open-or-snapshot.ts';
import { isTime, stripClusterFields, toClusterRecord } from '../to-cluster-record.ts';
import type { Keyed } from './lane-heap.ts';
import { LineRecord, type MergedRecord, toClusterLine } from './record-lines.ts';

export interface LaneOptions {
  /** Breaks ties between records with the same time. */
  index: number;
  id: string;
  clock: MemberClock;
  newestFirst: boolean;
  open(signal: AbortSignal): AsyncIterable<(SearchItem | LineRecord)[]>;
  firstBatchMs: number;
  /** Total wait time. */
  timeoutMs: number;
  /** Report fields if its snapshot is searched instead. */
  instead?: () => SnapshotReport | undefined;
  /** What earlier pages have emitted, if it continues exactly there. */
  reached?: LaneReach | undefined;
}

/** The key of the last emitted record, and how many records with this key were emitted. */
export interface LaneReach {
  key: number;
  count: number;
}

const NOTHING: (FoundRecord | LineRecord)[] = [];

/** Minimum fraction of the first-record timeout, however late the lane was opened. */
const MIN_SHARE = 0.25;

/** One member of a merge: its stream, the current batch, and what was emitted. */
export class MemberLane implements Keyed {
  readonly index: number;
  readonly id: string;
  readonly uncertaintyMs: number;
  /** Key of the current record. Never decreases: a record out of order or without a timestamp stays after its predecessor. */
  key = -Infinity;
  /** It sent something, if only the empty batch. */
  hasAnswered = false;
  /** Its first records missed the deadline: the others are emitted without it. */
  isLate = false;
  /** Nothing more will come after the current batch. */
  isOver = false;
  end: SearchEnd | undefined;
  /** The error it failed with. */
  problem: unknown;
  delivered = 0;
  /** Set when it has emitted a record, or left one out that an earlier page has emitted. */
  reached: LaneReach | undefined;
  /** How far its records were out of order. */
  disorderMs = 0;
  /** Corrected time of the last emitted record that has one. */
  lastAtMs: number | undefined;
  readonly #options: LaneOptions;
  readonly #abortController = new AbortController();
  /** The last emitted record per file, in order of emission. */
  readonly #cursors = new Map<string, string>();
  #last: FoundRecord | LineRecord | undefined;
  #onChange: (lane: MemberLane) => void = () => {};
  #batches: AsyncIterator<(SearchItem | LineRecord)[]> | undefined;
  #batch = NOTHING;
  #index = 0;
  /** Invalid items. */
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
    if (options.reached) this.key = options.reached.key;
  }

  /** The snapshot that is searched instead. */
  get snapshot(): MemberSnapshot | undefined {
    return this.#options.instead?.()?.snapshot;
  }

  /** The last emitted record. */
  get last(): Pick<FoundRecord, 'file' | 'offset'> | undefined {
    return this.#last;
  }

  get hasNext(): boolean {
    return this.#index < this.#batch.length;
  }

  /** Cursors of the last emitted records by file, in order of emission. */
  get deliveredCursors(): ReadonlyMap<string, string> {
    this.#noteLast();
    return this.#cursors;
  }

  /** Coverage of its closing record, by the clock of this node; `null`: nothing, `undefined`: not received yet. */
  get ownCoverage(): { fromMs: number; toMs: number } | null | undefined {
    return this.end && coveredRange(this.end, this.#options.clock.offsetMs);
  }

  /** Times, by the clock of this node, of records that it sent and that were not emitted. */
  undeliveredTimes(): number[] {
    const { offsetMs } = this.#options.clock;
    return this.#batch.slice(this.#index).flatMap(({ timeMs }) => (isTime(timeMs) ? [timeMs - offsetMs] : []));
  }

  /** Sends the request. `onChange` is called when records arrive, the stream ends, or the lane is late. */
  open(onChange: (lane: MemberLane) => void): void {
    this.#onChange = onChange;
    this.#openedMs = performance.now();
    // Measured from the start of the request: opening many members takes time, too.
    const waitedMs = this.#openedMs - this.#createdMs;
    const { firstBatchMs } = this.#options;
    const remainingMs = Math.max(firstBatchMs * MIN_SHARE, firstBatchMs - waitedMs);
    this.#firstTimer = setTimeout(() => this.#markLate(), remainingMs);
    this.pull();
  }

  /** Reads until there are records or the stream ends. */
  pull(): void {
    void this.#read();
  }

  /** Takes the current record. Only if there is one. */
  take(isUnsure: boolean): MergedRecord {
    const record = this.#batch[this.#index++] as FoundRecord | LineRecord;
    const { timeMs } = record;
    this.#noteReached(this.key);
    if (isTime(timeMs)) this.lastAtMs = timeMs - this.#options.clock.offsetMs;
    if (record.file !== this.#last?.file) this.#noteLast();
    this.#last = record;
    this.delivered++;
    this.#updateKey();
    const facts = { node: this.id, atMs: isTime(timeMs) ? this.lastAtMs : undefined, isUnsure };
    return record instanceof LineRecord ? toClusterLine(record, facts) : toClusterRecord(record, facts);
  }

  /** Leaves out a record of its stream that an earlier page has emitted: what follows continues after it. */
  skip(record: FoundRecord | LineRecord): void {
    if (record.file !== this.#last?.file) this.#noteLast();
    this.#last = record;
    const { clock, newestFirst } = this.#options;
    const { timeMs } = record;
    if (isTime(timeMs)) {
      const atMs = timeMs - clock.offsetMs;
      this.key = Math.max(this.key, newestFirst ? -atMs : atMs);
    }
    this.#noteReached(this.key);
  }

  /** Closes the stream. Does not wait for a stream that ignores the signal. */
  async close(): Promise<void> {
    clearTimeout(this.#firstTimer);
    this.#elapsedMs ??= this.#openedMs === 0 ? 0 : performance.now() - this.#openedMs;
    this.isOver = true;
    this.#abortController.abort();
    await this.#batches?.return?.().catch(() => {}); // the lane is closed; its result no longer matters
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
    if (isCut) return { outcome: 'ok', detail: 'its records were late; some are missing', isPartial: true };
    const skipped = this.#skippedDetail();
    return skipped === undefined
      ? { outcome: 'ok', detail: null }
      : { outcome: 'version', detail: skipped, isPartial: true };
  }

  #truncatedError(): PortholeError {
    const left = this.#skippedDetail();
    if (left !== undefined) return new PortholeError('BAD_ANSWER', left);
    return new PortholeError('UNREACHABLE', 'the response was truncated');
  }

  /** Reports invalid items of its response: it may be a later version. */
  #skippedDetail(): string | undefined {
    if (this.#skipped > 0) return `${this.#skipped} invalid items in its response were skipped`;
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

  #take(items: (SearchItem | LineRecord)[]): void {
    const records: (FoundRecord | LineRecord)[] = [];
    for (const item of items) {
      if (item instanceof LineRecord) {
        records.push(item);
        continue;
      }
      if (item?.type === 'end') {
        this.end = item;
        break;
      }
      // The client decodes HTTP responses and reports at the end what it skipped.
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

  /** Updates the key of the current record. */
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
    else this.disorderMs = Math.max(this.disorderMs, this.key - key);
  }

  #noteReached(key: number): void {
    const before = this.reached ?? this.#options.reached;
    this.reached = { key, count: before?.key === key ? before.count + 1 : 1 };
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
    this.problem = error ?? new PortholeError('INTERNAL', 'the member failed without a reason');
    this.#finish();
    this.#abortController.abort(error);
    this.#onChange(this);
  }

  #finish(): void {
    this.isOver = true;
    this.#elapsedMs = performance.now() - this.#openedMs;
    // Not awaited: it may be stuck. Its result no longer matters.
    this.#batches?.return?.().catch(() => {});
  }
}
