import type { ClusterRecord } from '@porthole/contract';
import { isBefore, LaneHeap } from './lane-heap.ts';
import { LaneScheduler, type LaneSchedulerOptions } from './lane-scheduler.ts';
import type { MemberLane } from './member-lane.ts';

/** Told at once where nothing must be waited for. */
const BATCH_RECORDS = 1024;

export interface MergeOptions extends LaneSchedulerOptions {
  /** At most this many records. */
  limit: number;
  /** The last record of the page before: who wrote it, its key, and how sure its clock is. */
  after?: PreviousRecord | undefined;
}

export interface PreviousRecord {
  id: string;
  key: number;
  uncertaintyMs: number;
}

/**
 * The records of all lanes in the order of their corrected times, in batches as they are known; an empty batch first, as
 * soon as one member has taken the question. Holds one batch of each lane. Lanes are closed when it ends, however it does.
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

  /** What can be told now without waiting for anyone. */
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

  /** As long as it is the first of all, the order of the others does not matter. */
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

  /** Of two members' neighbours: closer than their clocks are known, or the wrong way round because one came late. */
  #isUnsure(lane: MemberLane, key: number): boolean {
    const last = this.#last;
    if (last === undefined || last.id === lane.id) return false;
    return key - last.key < lane.uncertaintyMs + last.uncertaintyMs;
  }
}
