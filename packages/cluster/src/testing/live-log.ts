import type { CallOptions } from '@porthole/contract';
import { Condition } from '@porthole/logs';
import type { FollowItem, FollowQuery } from '@porthole/logs/types';
import { FakeNode } from './fake-node.ts';

/** A member whose log the test writes. */
export class LiveLog extends FakeNode {
  /** Batches consumed by a reader. */
  taken = 0;
  readonly #batches: (FollowItem[] | Error)[] = [];
  readonly #written = new Condition();

  constructor() {
    super({ follow: (query, options) => this.#follow(query, options) });
  }

  /** An error makes the stream throw when it gets to it. */
  emit(...items: FollowItem[]): void {
    this.#batches.push(items);
    this.#written.notify();
  }

  fail(error: Error): void {
    this.#batches.push(error);
    this.#written.notify();
  }

  async *#follow(_query: FollowQuery, { signal }: CallOptions): AsyncGenerator<FollowItem[], void, undefined> {
    const wake = () => this.#written.notify();
    signal?.addEventListener('abort', wake);
    try {
      yield [];
      while (!signal?.aborted) {
        const batch = this.#batches.shift();
        if (batch instanceof Error) throw batch;
        if (batch) {
          this.taken++;
          yield batch;
        } else await this.#written.wait();
      }
      yield [{ type: 'end', reason: 'cancelled' }];
    } finally {
      signal?.removeEventListener('abort', wake);
    }
  }
}
