import { Condition } from '../../condition.ts';

/** Counts polls, for those who must know that one has begun and ended since they asked. */
export class PollCount {
  readonly #ended = new Condition();
  #begun = 0;
  #done = 0;

  async run(poll: () => Promise<void>): Promise<void> {
    this.#begun++;
    await poll();
    this.#done = this.#begun;
    this.#ended.notify();
  }

  /** Resolves when the next poll to begin has ended, or there are no more. */
  async next(): Promise<void> {
    const wanted = this.#begun + 1;
    while (this.#done < wanted) await this.#ended.wait();
  }

  /** There are no more polls. */
  close(): void {
    this.#done = Number.POSITIVE_INFINITY;
    this.#ended.notify();
  }
}
