/** Ordered by key, then by index. */
export interface Keyed {
  /** Smaller comes first. */
  readonly key: number;
  /** Unique. */
  readonly index: number;
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

export function isBefore(a: Keyed, b: Keyed): boolean {
  return a.key < b.key || (a.key === b.key && a.index < b.index);
}
