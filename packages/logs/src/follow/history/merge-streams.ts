/** A counting semaphore without a queue. */
export class Permits {
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  tryTake(): boolean {
    if (this.#free <= 0) return false;
    this.#free--;
    return true;
  }

  release(): void {
    this.#free++;
  }
}

interface Running<T> {
  stream: AsyncGenerator<T, void, undefined>;
  next: Promise<{ running: Running<T>; result: IteratorResult<T, void> }>;
  hasPermit: boolean;
}

/**
 * Merges streams in the order in which their items arrive, keeping the order within each. One stream always runs, more
 * of them as long as there are permits.
 */
export async function* mergeStreams<T>(
  starts: readonly (() => AsyncGenerator<T, void, undefined>)[],
  permits: Permits,
): AsyncGenerator<T, void, undefined> {
  const waiting = starts.values();
  const running = new Set<Running<T>>();
  const advance = (each: Running<T>) => {
    each.next = each.stream.next().then((result) => ({ running: each, result }));
    // The race below reports the failure; if the consumer leaves first, it must not become an unhandled rejection.
    each.next.catch(() => {});
  };
  const startMore = () => {
    for (;;) {
      const hasPermit = running.size > 0 && permits.tryTake();
      if (running.size > 0 && !hasPermit) return;
      const { value: start } = waiting.next();
      if (start) {
        const each = { stream: start(), hasPermit } as Running<T>;
        running.add(each);
        advance(each);
        continue;
      }
      if (hasPermit) permits.release();
      return;
    }
  };
  const finish = (each: Running<T>) => {
    running.delete(each);
    if (each.hasPermit) permits.release();
  };
  try {
    for (startMore(); running.size > 0; startMore()) {
      const { running: each, result } = await Promise.race(Array.from(running, ({ next }) => next));
      if (result.done) {
        finish(each);
        continue;
      }
      yield result.value;
      // To the end of the queue, so that a stream that always has items does not starve the others.
      running.delete(each);
      running.add(each);
      advance(each);
    }
  } finally {
    const left = [...running];
    left.forEach(finish);
    await Promise.allSettled(left.map(({ stream }) => stream.return()));
  }
}
