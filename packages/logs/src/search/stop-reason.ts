import { CancelFlag } from '../cancel-flag.ts';
import type { ReadOptions } from '../types.ts';

/** A longer timer would fire at once; nobody waits that long. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Why a query should end early, and the flags that cancel its scans. */
export class StopReason {
  reason: 'cancelled' | 'time budget' | undefined;
  readonly client: string | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #isOver: (() => boolean) | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #flags: CancelFlag[] = [];
  readonly #seekFlags: CancelFlag[] = [];
  readonly #onAbort = () => this.#stop('cancelled');

  constructor({ signal, client, budgetMs = Infinity, isOver }: SearchOptions) {
    this.client = client;
    this.#signal = signal;
    this.#isOver = isOver;
    if (signal?.aborted) this.reason = 'cancelled';
    signal?.addEventListener('abort', this.#onAbort);
    if (budgetMs <= MAX_TIMER_MS) this.#timer = setTimeout(() => this.#stop('time budget'), budgetMs).unref();
  }

  newFlag(): CancelFlag {
    const { client } = this;
    const flag = new CancelFlag({ client, isDue: this.#isOver && (() => this.poll() !== undefined) });
    this.#flags.push(flag);
    if (this.reason) flag.set();
    return flag;
  }

  /**
   * For finding a position: an incomplete result is wrong, and one that is searched again in every response that is
   * short of time is never found. So it is cancelled only when the client no longer waits for it.
   */
  newSeekFlag(): CancelFlag {
    const flag = new CancelFlag({ client: this.client });
    this.#seekFlags.push(flag);
    if (this.reason === 'cancelled') flag.set();
    return flag;
  }

  /** The reason to stop, if there is one by now. */
  poll(): StopReason['reason'] {
    if (!this.reason && this.#isOver?.()) this.#stop('time budget');
    return this.reason;
  }

  /** The result of seeks; `null` if they were cancelled meanwhile: then they failed, or are incomplete. */
  async unlessCancelled<T>(sought: Promise<T>): Promise<T | null> {
    try {
      const found = await sought;
      return this.reason === 'cancelled' ? null : found;
    } catch (error) {
      if (this.reason === 'cancelled') return null;
      throw error;
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  #stop(reason: 'cancelled' | 'time budget'): void {
    this.reason ??= reason;
    for (const flag of this.#flags) flag.set();
    if (reason === 'cancelled') for (const flag of this.#seekFlags) flag.set();
  }
}

export interface SearchOptions extends ReadOptions {
  /** The query ends by itself after this long, and reports how far it got. */
  budgetMs?: number | undefined;
  /** Polled while it runs: `true` ends it like an exhausted budget, at a point the caller decides. */
  isOver?: (() => boolean) | undefined;
  /** A batch is no longer used when the next one is requested: its memory may be used for that one. */
  reusesMemory?: boolean | undefined;
  /** With `raw`, nothing else of the records is used but their position and time: the rest may be left out. */
  onlyRaw?: boolean | undefined;
  /**
   * The bytes of the batches are the records as in their files, except for masked secrets, instead of lines of JSON; they
   * can be concatenated. Without context: `before` and `after` must be 0. `raw` and `fields` are ignored.
   */
  asText?: boolean | undefined;
}
