import type { CallOptions } from '@porthole/contract';
import type { MemberLane } from './member-lane.ts';

/** How long to wait for streams to end. */
const CLOSING_MS = 250;

export interface LaneSchedulerOptions extends CallOptions {
  /** Lanes waiting for their first records at the same time. */
  maxParallel: number;
}

/** Opens lanes with bounded concurrency and tracks which of them the merge must wait for. */
export class LaneScheduler {
  readonly #lanes: readonly MemberLane[];
  readonly #options: LaneSchedulerOptions;
  readonly #opening = new Set<MemberLane>();
  readonly #awaited: Set<MemberLane>;
  readonly #reading = new Set<MemberLane>();
  #opened = 0;
  #arrived: MemberLane[] = [];
  #wake: () => void = () => {};

  constructor(lanes: readonly MemberLane[], options: LaneSchedulerOptions) {
    this.#lanes = lanes;
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
      const lane = this.#lanes[this.#opened++];
      if (lane === undefined) return;
      this.#opening.add(lane);
      this.#reading.add(lane);
      lane.open((changed) => this.#onLaneChange(changed));
    }
  }

  /** Lanes with new records since the last call. */
  takeArrived(): MemberLane[] {
    const arrived = this.#arrived;
    this.#arrived = [];
    return arrived;
  }

  pull(lane: MemberLane): void {
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

  async close(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const longEnough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSING_MS);
    });
    await Promise.race([Promise.all(this.#lanes.map((lane) => lane.close())), longEnough]);
    clearTimeout(timer);
  }

  #onLaneChange(lane: MemberLane): void {
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
