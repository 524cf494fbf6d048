/** Ordered by key, then by index. */
export interface Keyed {
  /** Smaller comes first. */
  readonly key: number;
  /** Unique. */
  readonly index: number;
}

export function isBefore(a: Keyed, b: Keyed): boolean {
  return a.key < b.key || (a.key === b.key && a.index < b.index);
}

/** A binary heap. The key of an item may change only while it is on top, and then `sink` must be called. */
export class LaneHeap<T extends Keyed> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  get top(): T | undefined {
    return this.#items[0];
  }

  /** The second smallest. */
  get second(): T | undefined {
    const { 1: left, 2: right } = this.#items;
    return left && right && isBefore(right, left) ? right : left;
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above] as T;
      if (!isBefore(item, parent)) break;
      items[at] = parent;
      at = above;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (last !== undefined && items.length > 0) {
      items[0] = last;
      this.sink();
    }
    return top;
  }

  /** Call after the key of the top has grown. */
  sink(): void {
    const items = this.#items;
    const item = items[0];
    if (item === undefined) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= items.length) break;
      const right = items[below + 1];
      if (right !== undefined && isBefore(right, items[below] as T)) below++;
      const child = items[below] as T;
      if (!isBefore(child, item)) break;
      items[at] = child;
      at = below;
    }
    items[at] = item;
  }
}

/** Something with a time for each of its records; `NaN` for one without a timestamp. */
export interface Timed {
  readonly times: ArrayLike<number>;
}

/** Records `[from, to)` of a batch. */
export interface MergedRun<Batch> {
  /** The index of the lane they come from. */
  lane: number;
  batch: Batch;
  from: number;
  to: number;
}

export interface MergeOptions {
  order: 'newest' | 'oldest';
  /** Maximum number of records. */
  limit?: number | undefined;
  /** Awaited when the limit is reached, before the lanes are closed; `hasMore`: there are records beyond it. */
  onLimit?: ((hasMore: boolean) => Promise<void>) | undefined;
}

/**
 * Merges lanes by time. A record without a timestamp, or out of order, stays behind the one before it in its lane; records of
 * the same time come in the order of the lanes. Emits what is known without waiting, and then waits for one batch of each lane
 * that has none: until then the runs are valid. Closes the lanes.
 */
export async function* mergeByTime<Batch extends Timed>(
  lanes: readonly AsyncGenerator<Batch, void, undefined>[],
  { order, limit = Infinity, onLimit }: MergeOptions,
): AsyncGenerator<MergedRun<Batch>[], void, undefined> {
  const heap = new LaneHeap<LaneFront<Batch>>();
  const empty = new Set(lanes.map((lane, index) => new LaneFront(lane, index, order)));
  let left = limit;
  try {
    for (;;) {
      // One after the other: closing a lane waits for what it is reading, and a failure must not wait for a slow lane.
      for (const front of empty) if (await front.fill()) heap.push(front);
      empty.clear();
      const runs: MergedRun<Batch>[] = [];
      while (left > 0 && empty.size === 0) {
        const first = heap.top;
        if (first === undefined) break;
        const run = first.take(left, heap.second);
        runs.push(run);
        left -= run.to - run.from;
        if (first.hasNext) heap.sink();
        else {
          heap.pop();
          empty.add(first);
        }
      }
      if (runs.length > 0) yield runs;
      if (left <= 0) return await onLimit?.(heap.size > 0);
      if (empty.size === 0) return;
    }
  } finally {
    await Promise.all(lanes.map((lane) => lane.return()));
  }
}

/** The batch of a lane that is being merged. */
class LaneFront<Batch extends Timed> implements Keyed {
  readonly index: number;
  key = -Infinity;
  readonly #lane: AsyncGenerator<Batch, void, undefined>;
  readonly #sign: 1 | -1;
  #batch: Batch | undefined;
  #at = 0;

  constructor(lane: AsyncGenerator<Batch, void, undefined>, index: number, order: MergeOptions['order']) {
    this.#lane = lane;
    this.index = index;
    this.#sign = order === 'oldest' ? 1 : -1;
  }

  get hasNext(): boolean {
    return this.#batch !== undefined && this.#at < this.#batch.times.length;
  }

  /** Reads until there is a record; `false` at the end. */
  async fill(): Promise<boolean> {
    do {
      const { done, value } = await this.#lane.next();
      if (done) return false;
      this.#batch = value;
      this.#at = 0;
    } while (!this.hasNext);
    this.#updateKey();
    return true;
  }

  /** The next record, and those after it that come before the other lane. */
  take(most: number, other: Keyed | undefined): MergedRun<Batch> {
    const batch = this.#batch as Batch;
    const from = this.#at;
    const last = Math.min(batch.times.length, from + most);
    if (other === undefined) this.#at = last;
    else
      do {
        this.#at++;
        this.#updateKey();
      } while (this.#at < last && isBefore(this, other));
    return { lane: this.index, batch, from, to: this.#at };
  }

  #updateKey(): void {
    const key = this.#sign * (this.#batch?.times[this.#at] ?? Number.NaN);
    if (key > this.key) this.key = key;
  }
}
