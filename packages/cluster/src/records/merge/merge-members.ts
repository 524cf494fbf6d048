import type { CallOptions } from '@porthole/contract';
import { isBefore, type Keyed, LaneHeap } from '@porthole/records';
import type { MemberRun } from './cluster-batch.ts';

/** Adds a lane to a merge that has begun. */
export type JoinMerge = (lane: MergeLane) => void;

export interface TakeOptions {
  /** Whether the order of the first one is not certain. */
  isUnsure: boolean;
  /** Maximum number of records. */
  most: number;
  /** The lane with the smallest key of the others: only the first record may come after its current one. */
  before: Keyed | undefined;
}

/** A lane of a merge: the records of one member, or of a group that is merged already. */
export interface MergeLane extends Keyed {
  /** The id of the member. */
  readonly id: string;
  readonly uncertaintyMs: number;
  /** It sent something, if only the empty batch. */
  readonly hasAnswered: boolean;
  /** Its first records missed the deadline: the others are emitted without it. */
  readonly isLate: boolean;
  /** Nothing more will come after the current batch. */
  readonly isOver: boolean;
  readonly hasNext: boolean;
  /** The key of the last record that was taken. */
  readonly takenKey: number;
  /** Sends the request. `onChange` is called when records arrive, the stream ends, or the lane is late. */
  open(onChange: (lane: MergeLane) => void, join: JoinMerge): void;
  /** Reads until there are records or the stream ends. */
  pull(): void;
  /** Takes the current record, and lines of the same member that follow it. Only if there is one. */
  take(options: TakeOptions): MemberRun;
  /**
   * Nothing more will be taken. Reads on to the end of the page it is in, unless that is more than so many records away:
   * only there it says what could not be read.
   */
  settle(mostRecords: number): Promise<void>;
  close(): Promise<void>;
}

/** Maximum batch. */
const BATCH_RECORDS = 1024;

export interface MergeOptions extends LaneSchedulerOptions {
  /** Maximum number of records. */
  limit: number;
  /** The last record of the previous page: its member, key and clock uncertainty. */
  after?: PreviousRecord | undefined;
}

export interface PreviousRecord {
  id: string;
  key: number;
  uncertaintyMs: number;
}

/**
 * Emits the records of all lanes sorted by corrected time, in batches as they become known; an empty batch first, as soon as a
 * member has accepted the query. Buffers one batch per lane. Always closes the lanes when it ends.
 */
export async function* mergeMembers(
  lanes: readonly MergeLane[],
  { limit, after, ...options }: MergeOptions,
): AsyncGenerator<MemberRun[], void, undefined> {
  const scheduler = new LaneScheduler(lanes, options);
  const merge = new Merge(scheduler, limit, after);
  try {
    scheduler.openAll();
    while (!scheduler.hasFirstResponse) await scheduler.nextChange();
    yield [];
    while (!merge.isFull) {
      options.signal?.throwIfAborted();
      const records = merge.nextBatch();
      if (records.length > 0) yield records;
      else if (merge.isOver) break;
      else await scheduler.nextChange();
    }
    if (merge.isFull) await scheduler.settle();
  } finally {
    await scheduler.close();
  }
}

class Merge {
  readonly #scheduler: LaneScheduler;
  readonly #heap = new LaneHeap<MergeLane>();
  #remaining: number;
  #last: PreviousRecord | undefined;

  constructor(scheduler: LaneScheduler, limit: number, after: PreviousRecord | undefined) {
    this.#scheduler = scheduler;
    this.#remaining = limit;
    this.#last = after;
  }

  get isFull(): boolean {
    return this.#remaining <= 0;
  }

  get isOver(): boolean {
    return this.#heap.size === 0 && this.#scheduler.isOver;
  }

  /** The records that can be emitted without waiting. */
  nextBatch(): MemberRun[] {
    const batch: MemberRun[] = [];
    let left = BATCH_RECORDS;
    for (const lane of this.#scheduler.takeArrived()) this.#heap.push(lane);
    while (!this.#scheduler.mustWait && !this.isFull && left > 0) {
      const lane = this.#heap.top;
      if (lane === undefined) break;
      left -= this.#takeRun(lane, batch, left);
      if (lane.hasNext) {
        this.#heap.sink();
      } else {
        this.#heap.pop();
        if (!lane.isOver) this.#scheduler.pull(lane);
      }
    }
    return batch;
  }

  /** While it has the smallest key, the order of the others does not matter. Returns how many records were taken. */
  #takeRun(lane: MergeLane, batch: MemberRun[], left: number): number {
    const { second } = this.#heap;
    const most = Math.min(this.#remaining, left);
    let count = 0;
    do {
      const { id, key, uncertaintyMs } = lane;
      const taken = lane.take({ isUnsure: this.#isUnsure(lane, key), most: most - count, before: second });
      batch.push(taken);
      this.#last = { id, key: lane.takenKey, uncertaintyMs };
      count += taken.to - taken.from;
    } while (count < most && lane.hasNext && (second === undefined || isBefore(lane, second)));
    this.#remaining -= count;
    return count;
  }

  /** Adjacent records of two members: closer than the clock uncertainty, or out of order because one was late. */
  #isUnsure(lane: MergeLane, key: number): boolean {
    const last = this.#last;
    if (last === undefined || last.id === lane.id) return false;
    return key - last.key < lane.uncertaintyMs + last.uncertaintyMs;
  }
}

/** How long to wait for streams to end. */
const CLOSING_MS = 250;

/** How long, and for how many more records, to wait for what members could not read. */
const SETTLING_MS = 100;
const SETTLING_RECORDS = 8192;

interface LaneSchedulerOptions extends CallOptions {
  /** Lanes waiting for their first records at the same time. */
  maxParallel: number;
}

/** Opens lanes with bounded concurrency and tracks which of them the merge must wait for. */
class LaneScheduler {
  readonly #lanes: MergeLane[];
  readonly #options: LaneSchedulerOptions;
  readonly #opening = new Set<MergeLane>();
  readonly #awaited: Set<MergeLane>;
  readonly #reading = new Set<MergeLane>();
  #opened = 0;
  #arrived: MergeLane[] = [];
  #wake: () => void = () => {};

  constructor(lanes: readonly MergeLane[], options: LaneSchedulerOptions) {
    this.#lanes = [...lanes];
    this.#options = options;
    this.#awaited = new Set(lanes);
  }

  /** Lanes without which the next record is unknown. */
  get mustWait(): boolean {
    return this.#awaited.size > 0;
  }

  /** No lane is worth waiting for: late lanes that never sent anything do not count. */
  get isOver(): boolean {
    if (this.mustWait) return false;
    for (const lane of this.#reading) if (lane.hasAnswered) return false;
    return true;
  }

  /** A member has accepted the query, or none will. */
  get hasFirstResponse(): boolean {
    return !this.mustWait || this.#lanes.some(({ hasAnswered }) => hasAnswered);
  }

  openAll(): void {
    while (this.#opening.size < this.#options.maxParallel) {
      const lane = this.#lanes[this.#opened];
      if (lane === undefined) return;
      this.#opened++;
      this.#opening.add(lane);
      this.#reading.add(lane);
      lane.open(
        (changed) => this.#onLaneChange(changed),
        (more) => this.#add(more),
      );
    }
  }

  /** Lanes with new records since the last call. */
  takeArrived(): MergeLane[] {
    const arrived = this.#arrived;
    this.#arrived = [];
    return arrived;
  }

  pull(lane: MergeLane): void {
    this.#reading.add(lane);
    if (!lane.isLate) this.#awaited.add(lane);
    lane.pull();
  }

  /** Resolves on the next change; rejects when the signal aborts. */
  nextChange(): Promise<void> {
    const { signal } = this.#options;
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal?.reason);
      if (signal?.aborted) return onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#wake = () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
    });
  }

  /** Lets lanes that have answered read what their members could not read. */
  async settle(): Promise<void> {
    const answered = this.#lanes.filter(({ hasAnswered, isOver }) => hasAnswered && !isOver);
    await allWithin(
      SETTLING_MS,
      answered.map((lane) => lane.settle(SETTLING_RECORDS)),
    );
  }

  async close(): Promise<void> {
    await allWithin(
      CLOSING_MS,
      this.#lanes.map((lane) => lane.close()),
    );
  }

  #add(lane: MergeLane): void {
    this.#lanes.push(lane);
    this.#awaited.add(lane);
    this.openAll();
  }

  #onLaneChange(lane: MergeLane): void {
    const isHere = lane.hasNext || lane.isOver;
    if (isHere || lane.isLate) {
      this.#awaited.delete(lane);
      this.#opening.delete(lane);
    }
    if (isHere && this.#reading.delete(lane) && lane.hasNext) this.#arrived.push(lane);
    this.openAll();
    this.#wake();
  }
}

/** Waits for all of them, but not longer. */
async function allWithin(mostMs: number, all: readonly Promise<void>[]): Promise<void> {
  if (all.length === 0) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const longEnough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, mostMs);
  });
  await Promise.race([Promise.all(all), longEnough]);
  clearTimeout(timer);
}
