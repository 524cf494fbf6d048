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

export type MergeOrder = 'newest' | 'oldest';

/**
 * What a merge has of one of its lanes: a batch, and how much of it was taken. The key is the time of the next record, or the
 * furthest one known: nothing that follows comes before it. A record without a timestamp, or out of order, stays behind the
 * one before it.
 */
export class MergeLane<Batch extends Timed> implements Keyed {
  readonly index: number;
  key = -Infinity;
  readonly #sign: 1 | -1;
  #batch: Batch | undefined;
  #at = 0;
  #thenMs = Number.NaN;

  constructor(index: number, order: MergeOrder) {
    this.index = index;
    this.#sign = order === 'oldest' ? 1 : -1;
  }

  /** The batch that is taken from. */
  get batch(): Batch | undefined {
    return this.#batch;
  }

  /** The next record in the batch. */
  get at(): number {
    return this.#at;
  }

  /** Whether the next record is there. */
  get hasNext(): boolean {
    return this.#batch !== undefined && this.#at < this.#batch.times.length;
  }

  /** The time of the next record; `NaN` if it has none, or is not there. */
  get nextMs(): number {
    return this.#batch?.times[this.#at] ?? Number.NaN;
  }

  /** Nothing that follows is newer; oldest first: older. */
  get boundMs(): number {
    return this.#sign * this.key;
  }

  /** Replaces the batch, of which all was taken. What follows it is bound by `thenMs`. */
  put(batch: Batch, thenMs = Number.NaN): void {
    this.#batch = batch;
    this.#at = 0;
    this.#thenMs = thenMs;
    this.bound(this.hasNext ? this.nextMs : thenMs);
  }

  /** Nothing that follows comes before this time; `NaN`: that is not known. */
  bound(timeMs: number): void {
    const key = this.#sign * timeMs;
    if (key > this.key) this.key = key;
  }

  /** The next record, and those after it that come before the other lane. Only if there is one. */
  take(most: number, other: Keyed | undefined): MergedRun<Batch> {
    const batch = this.#batch as Batch;
    const { times } = batch;
    const from = this.#at;
    const last = Math.min(times.length, from + most);
    let to = other === undefined ? last - 1 : from;
    let { key } = this;
    const mostKey = other === undefined ? Infinity : other.key;
    // Most runs of logs that alternate are single records: this loop is what merging them costs.
    const isFirst = other === undefined || this.index < other.index;
    do {
      to++;
      const next = this.#sign * (times[to] as number);
      if (next > key) key = next;
    } while (to < last && (key < mostKey || (isFirst && key === mostKey)));
    this.key = key;
    this.#at = to;
    if (to === times.length) this.bound(this.#thenMs);
    return { lane: this.index, batch, from, to };
  }
}

/** What a merge takes from. */
interface TakenLane<Run> extends Keyed {
  readonly hasNext: boolean;
  take(most: number, other: Keyed | undefined): Run;
}

/** Takes records from lanes by time; those of the same time in the order of the lanes. Others read the lanes. */
export class TimeMerge<Run extends Pick<MergedRun<unknown>, 'from' | 'to'>, Lane extends TakenLane<Run>> {
  readonly #heap = new LaneHeap<Lane>();

  /** The lane that has, or may have, the next record. Without one at hand, it must be read and `update` be called. */
  get first(): Lane | undefined {
    return this.#heap.top;
  }

  add(lane: Lane): void {
    this.#heap.push(lane);
  }

  /** The first lane has got a batch, or got further. */
  update(): void {
    this.#heap.sink();
  }

  /** The first lane has ended, or is no longer waited for. */
  remove(): void {
    this.#heap.pop();
  }

  /** The records that are certain to come next: all until the first lane has none at hand. */
  take(most: number): Run[] {
    const runs: Run[] = [];
    for (let left = most; left > 0; ) {
      const first = this.#heap.top;
      if (!first?.hasNext) break;
      const run = first.take(left, this.#heap.second);
      runs.push(run);
      left -= run.to - run.from;
      this.#heap.sink();
    }
    return runs;
  }
}

export function countRecords(runs: readonly Pick<MergedRun<unknown>, 'from' | 'to'>[]): number {
  let count = 0;
  for (const { from, to } of runs) count += to - from;
  return count;
}

export interface MergeOptions {
  order: MergeOrder;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** Awaited when the limit is reached, before the lanes are closed; `hasMore`: there are records beyond it. */
  onLimit?: ((hasMore: boolean) => Promise<void>) | undefined;
  /** For each lane: a time before which it has nothing. It is read only when the others have come that far. */
  startsAt?: readonly number[] | undefined;
}

/**
 * Merges lanes by time. Emits what is known without waiting, and then reads the lane without which nothing more is known:
 * until then the runs are valid. Closes the lanes.
 */
export async function* mergeByTime<Batch extends Timed>(
  lanes: readonly AsyncGenerator<Batch, void, undefined>[],
  { order, limit = Infinity, onLimit, startsAt = [] }: MergeOptions,
): AsyncGenerator<MergedRun<Batch>[], void, undefined> {
  const merge = new TimeMerge<MergedRun<Batch>, MergeLane<Batch>>();
  const fronts = lanes.map((_, index) => new MergeLane<Batch>(index, order));
  for (const front of fronts) {
    front.bound(startsAt[front.index] ?? Number.NaN);
    merge.add(front);
  }
  let left = limit;
  try {
    for (;;) {
      const runs = merge.take(left);
      left -= countRecords(runs);
      if (runs.length > 0) yield runs;
      if (left <= 0) return await onLimit?.(fronts.some(({ hasNext }) => hasNext));
      const { first } = merge;
      if (first === undefined) return;
      // One after the other: closing a lane waits for what it is reading, and a failure must not wait for a slow lane.
      const { done, value } = await (lanes[first.index] as AsyncGenerator<Batch, void, undefined>).next();
      if (done) merge.remove();
      else {
        first.put(value);
        merge.update();
      }
    }
  } finally {
    await Promise.all(lanes.map((lane) => lane.return()));
  }
}
