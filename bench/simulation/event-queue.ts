interface Event {
  atMs: number;
  /** Events of the same time happen in the order in which they were planned. */
  order: number;
  run(): void;
}

/** What will happen, by time. The clock jumps from one event to the next. */
export class EventQueue {
  /** A binary heap, the next event first. */
  readonly #heap: Event[] = [];
  #planned = 0;
  #nowMs = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, run: () => void): void {
    const heap = this.#heap;
    const event = { atMs: this.#nowMs + delayMs, order: this.#planned++, run };
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Event;
      if (isBefore(above, event)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = event;
  }

  /** Runs all events up to this time. */
  runUntil(endMs: number): void {
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= endMs; next = this.#heap[0]) {
      this.#removeFirst();
      this.#nowMs = next.atMs;
      next.run();
    }
    this.#nowMs = endMs;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop() as Event;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++;
      if (isBefore(last, heap[child] as Event)) break;
      heap[index] = heap[child] as Event;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
