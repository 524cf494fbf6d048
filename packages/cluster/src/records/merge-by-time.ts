import type { ClusterRecord } from '@porthole/contract';
import { LaneDesk, type LaneDeskOptions } from './lane-desk.ts';
import { isBefore, LaneHeap } from './lane-heap.ts';
import type { MemberLane } from './member-lane.ts';

/** Told at once where nothing must be waited for. */
const BATCH_RECORDS = 1024;

export interface MergeOptions extends LaneDeskOptions {
  /** At most this many records. */
  limit: number;
  /** The last record of the page before: who wrote it, its key, and how sure its clock is. */
  after?: MergedBefore | undefined;
}

export interface MergedBefore {
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
  const desk = new LaneDesk(lanes, options);
  const merge = new Merge(desk, limit, after);
  try {
    desk.openAll();
    while (!desk.hasSign) await desk.change();
    yield [];
    while (!merge.isFull) {
      options.signal?.throwIfAborted();
      const records = merge.tell();
      if (records.length > 0) yield records;
      else if (merge.isOver) break;
      else await desk.change();
    }
  } finally {
    await desk.close();
  }
}

class Merge {
  readonly #desk: LaneDesk;
  readonly #heap = new LaneHeap<MemberLane>();
  #left: number;
  #last: MergedBefore | undefined;

  constructor(desk: LaneDesk, limit: number, after: MergedBefore | undefined) {
    this.#desk = desk;
    this.#left = limit;
    this.#last = after;
  }

  get isFull(): boolean {
    return this.#left <= 0;
  }

  get isOver(): boolean {
    return this.#heap.size === 0 && this.#desk.isOver;
  }

  /** What can be told now without waiting for anyone. */
  tell(): ClusterRecord[] {
    const batch: ClusterRecord[] = [];
    for (const lane of this.#desk.takeArrived()) this.#heap.push(lane);
    while (!this.#desk.mustWait && !this.isFull && batch.length < BATCH_RECORDS) {
      const lane = this.#heap.top;
      if (lane === undefined) break;
      this.#tellRun(lane, batch);
      if (lane.hasNext) {
        this.#heap.sink();
      } else {
        this.#heap.pop();
        if (!lane.isOver) this.#desk.pull(lane);
      }
    }
    return batch;
  }

  /** As long as it is the first of all, the order of the others does not matter. */
  #tellRun(lane: MemberLane, batch: ClusterRecord[]): void {
    const { second } = this.#heap;
    const most = Math.min(this.#left, BATCH_RECORDS - batch.length);
    let count = 0;
    do {
      const { key } = lane;
      batch.push(lane.take(this.#isUnsure(lane, key)));
      this.#last = { id: lane.id, key, uncertaintyMs: lane.uncertaintyMs };
      count++;
    } while (count < most && lane.hasNext && (second === undefined || isBefore(lane, second)));
    this.#left -= count;
  }

  /** Of two members' neighbours: closer than their clocks are known, or the wrong way round because one came late. */
  #isUnsure(lane: MemberLane, key: number): boolean {
    const last = this.#last;
    if (last === undefined || last.id === lane.id) return false;
    return key - last.key < lane.uncertaintyMs + last.uncertaintyMs;
  }
}
