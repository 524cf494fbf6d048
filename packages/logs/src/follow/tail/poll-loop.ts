import { Condition } from '../../condition.ts';

/** Polls when woken, one poll after the other. */
export class PollLoop {
  readonly #woken = new Condition();
  readonly #ended = new Condition();
  #begun = 0;
  #done = 0;

  /** Polls now, or again after the poll in progress. */
  wake(): void {
    this.#woken.notify();
  }

  /** Resolves when a poll that begins after this call has ended, or there are no more. */
  async pollNow(): Promise<void> {
    const wanted = this.#begun + 1;
    this.wake();
    while (this.#done < wanted) await this.#ended.wait();
  }

  /** Ends when `poll` returns false or throws. */
  async run(poll: () => Promise<boolean>): Promise<void> {
    try {
      for (let goesOn = true; goesOn; ) {
        await this.#woken.wait();
        this.#begun++;
        goesOn = await poll();
        this.#done = this.#begun;
        this.#ended.notify();
      }
    } finally {
      this.#done = Number.POSITIVE_INFINITY;
      this.#ended.notify();
    }
  }
}
