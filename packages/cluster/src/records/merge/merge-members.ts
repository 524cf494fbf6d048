import type { CallOptions } from '@porthole/contract';
import { allWithin } from '@porthole/logs/shared';
import { countRecords, TimeMerge } from '@porthole/records';
import type { MemberLane, MemberRun } from './member-lane.ts';

/** Maximum batch. */
const BATCH_RECORDS = 1024;

/** How long to wait for streams to end. */
const CLOSING_MS = 250;

/** How long, and for how many more records, to wait for what members could not read. */
const SETTLING_MS = 100;
const SETTLING_RECORDS = 8192;

export interface MergeOptions extends LaneSchedulerOptions {
  /** Maximum number of records. */
  limit: number;
  /** The last record of the previous page. */
  after?: PreviousRecord | undefined;
}

export type PreviousRecord = Pick<MemberRun, 'node' | 'lastKey' | 'uncertaintyMs'>;

/**
 * Emits the records of all lanes sorted by corrected time, in batches as they become known; an empty batch first, as soon as a
 * member has accepted the query. Buffers one batch per lane. Always closes the lanes when it ends.
 */
export async function* mergeMembers(
  lanes: readonly MemberLane[],
  { limit, after, ...options }: MergeOptions,
): AsyncGenerator<MemberRun[], void, undefined> {
  const scheduler = new LaneScheduler(lanes, options);
  let [left, last] = [limit, after];
  try {
    scheduler.openAll();
    while (!scheduler.hasFirstResponse) await scheduler.nextChange();
    yield [];
    while (left > 0) {
      options.signal?.throwIfAborted();
      const runs = scheduler.take(Math.min(left, BATCH_RECORDS));
      for (const run of runs) {
        run.isUnsure = isUnsure(run, last);
        last = run;
      }
      left -= countRecords(runs);
      if (runs.length > 0) yield runs;
      else if (scheduler.isOver) break;
      else await scheduler.nextChange();
    }
    if (left <= 0) await scheduler.settle();
  } finally {
    await scheduler.close();
  }
}

/** Adjacent records of two members: closer than the clock uncertainty, or out of order because one was late. */
function isUnsure({ node, firstKey, uncertaintyMs }: MemberRun, last: PreviousRecord | undefined): boolean {
  if (last === undefined || last.node === node) return false;
  return firstKey - last.lastKey < uncertaintyMs + last.uncertaintyMs;
}

interface LaneSchedulerOptions extends CallOptions {
  /** Lanes waiting for their first records at the same time. */
  maxParallel: number;
}

/** Opens lanes with bounded concurrency and tracks which of them the merge must wait for. */
class LaneScheduler {
  readonly #lanes: readonly MemberLane[];
  readonly #options: LaneSchedulerOptions;
  /** The lanes that have records. */
  readonly #merge = new TimeMerge<MemberRun, MemberLane>();
  readonly #opening = new Set<MemberLane>();
  /** Lanes without which the next record is unknown. */
  readonly #awaited: Set<MemberLane>;
  readonly #reading = new Set<MemberLane>();
  #opened = 0;
  #wake: () => void = () => {};

  constructor(lanes: readonly MemberLane[], options: LaneSchedulerOptions) {
    this.#lanes = lanes;
    this.#options = options;
    this.#awaited = new Set(lanes);
  }

  /** No lane is worth waiting for: late lanes that never sent anything do not count. */
  get isOver(): boolean {
    if (this.#awaited.size > 0 || this.#merge.first) return false;
    for (const lane of this.#reading) if (lane.hasAnswered) return false;
    return true;
  }

  /** A member has accepted the query, or none will. */
  get hasFirstResponse(): boolean {
    return this.#awaited.size === 0 || this.#lanes.some(({ hasAnswered }) => hasAnswered);
  }

  openAll(): void {
    while (this.#opening.size < this.#options.maxParallel) {
      const lane = this.#lanes[this.#opened];
      if (lane === undefined) return;
      this.#opened++;
      this.#opening.add(lane);
      this.#reading.add(lane);
      lane.open((changed) => this.#onLaneChange(changed));
    }
  }

  /** The records that can be emitted without waiting. */
  take(most: number): MemberRun[] {
    if (this.#awaited.size > 0) return [];
    const runs = this.#merge.take(most);
    const { first } = this.#merge;
    if (first && !first.hasNext) {
      this.#merge.remove();
      if (!first.isOver) this.#pull(first);
    }
    return runs;
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

  #pull(lane: MemberLane): void {
    this.#reading.add(lane);
    if (!lane.isLate) this.#awaited.add(lane);
    lane.pull();
  }

  #onLaneChange(lane: MemberLane): void {
    const isHere = lane.hasNext || lane.isOver;
    if (isHere || lane.isLate) {
      this.#awaited.delete(lane);
      this.#opening.delete(lane);
    }
    if (isHere && this.#reading.delete(lane) && lane.hasNext) this.#merge.add(lane);
    this.openAll();
    this.#wake();
  }
}
