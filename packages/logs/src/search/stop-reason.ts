import { CancelFlag } from '../scan/cancel-flag.ts';

/** A timer for longer would fire at once; nobody waits so long. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Why a question should end early, and the flags that tell its scans. */
export class StopReason {
  reason: 'cancelled' | 'time budget' | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #isOver: (() => boolean) | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #flags: CancelFlag[] = [];
  readonly #seekFlags: CancelFlag[] = [];
  readonly #onAbort = () => this.#stop('cancelled');

  constructor({ signal, budgetMs = Infinity, isOver }: SearchOptions) {
    this.#signal = signal;
    this.#isOver = isOver;
    if (signal?.aborted) this.reason = 'cancelled';
    signal?.addEventListener('abort', this.#onAbort);
    if (budgetMs <= MAX_TIMER_MS) this.#timer = setTimeout(() => this.#stop('time budget'), budgetMs).unref();
  }

  newFlag(): CancelFlag {
    const flag = new CancelFlag(this.#isOver && (() => this.poll() !== undefined));
    this.#flags.push(flag);
    if (this.reason) flag.set();
    return flag;
  }

  /**
   * For looking for a place: a place found by halves is wrong, and one that is looked for anew in every answer that is
   * short of time is never found. So it ends only when nobody waits for it any more.
   */
  newSeekFlag(): CancelFlag {
    const flag = new CancelFlag();
    this.#seekFlags.push(flag);
    if (this.reason === 'cancelled') flag.set();
    return flag;
  }

  /** Why to stop, if so by now. */
  poll(): StopReason['reason'] {
    if (!this.reason && this.#isOver?.()) this.#stop('time budget');
    return this.reason;
  }

  /** What seeks gave; `null` where they were cancelled meanwhile: then they failed, or found half of it. */
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

export interface SearchOptions {
  signal?: AbortSignal | undefined;
  /** It ends by itself after so long, and tells how far it came. */
  budgetMs?: number | undefined;
  /** Polled while it runs: `true` ends it like a budget that is used up, at a point the caller decides. */
  isOver?: (() => boolean) | undefined;
}
