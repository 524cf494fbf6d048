import type { ClusterRecord } from '@porthole/contract';
import { isBefore, LaneHeap } from './lane-heap.ts';
import { LaneScheduler, type LaneSchedulerOptions } from './lane-scheduler.ts';
import type { MemberLane } from './member-lane.ts';

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
export async function* mergeByTime(
  lanes: readonly MemberLane[],
  { limit, after, ...options }: MergeOptions,
): AsyncGenerator<ClusterRecord[], void, undefined> {
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
  } finally {
    await scheduler.close();
  }
}

class Merge {
  readonly #scheduler: LaneScheduler;
  readonly #heap = new LaneHeap<MemberLane>();
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
  nextBatch(): ClusterRecord[] {
    const batch: ClusterRecord[] = [];
    for (const lane of this.#scheduler.takeArrived()) this.#heap.push(lane);
    while (!this.#scheduler.mustWait && !this.isFull && batch.length < BATCH_RECORDS) {
      const lane = this.#heap.top;
      if (lane === undefined) break;
      this.#takeRun(lane, batch);
      if (lane.hasNext) {
        this.#heap.sink();
      } else {
        this.#heap.pop();
        if (!lane.isOver) this.#scheduler.pull(lane);
      }
    }
    return batch;
  }

  /** While it has the smallest key, the order of the others does not matter. */
  #takeRun(lane: MemberLane, batch: ClusterRecord[]): void {
    const { second } = this.#heap;
    const most = Math.min(this.#remaining, BATCH_RECORDS - batch.length);
    let count = 0;
    do {
      const { key } = lane;
      batch.push(lane.take(this.#isUnsure(lane, key)));
      this.#last = { id: lane.id, key, uncertaintyMs: lane.uncertaintyMs };
      count++;
    } while (count < most && lane.hasNext && (second === undefined || isBefore(lane, second)));
    this.#remaining -= count;
  }

  /** Adjacent records of two members: closer than the clock uncertainty, or out of order because one was late. */
  #isUnsure(lane: MemberLane, key: number): boolean {
    const last = this.#last;
    if (last === undefined || last.id === lane.id) return false;
    return key - last.key < lane.uncertaintyMs + last.uncertaintyMs;
  }
}
