import { PortholeError } from '@porthole/contract';

/** Counts the streams under way and refuses more than allowed: each holds a descriptor and up to two chunks. */
export class StreamSlots {
  readonly most: number;
  #taken = 0;

  constructor(most: number) {
    this.most = most;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Returns what gives the slot back; calling that twice is harmless. */
  take(): () => void {
    if (this.#taken >= this.most) {
      const message = `${this.most} streams are under way, as many as http.max-streams allows`;
      throw new PortholeError('TOO_MANY_STREAMS', message);
    }
    this.#taken++;
    let given = false;
    return () => {
      if (!given) this.#taken--;
      given = true;
    };
  }
}
