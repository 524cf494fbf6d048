/* Promises with an owner: the only places where one is kept for several callers, or runs without one. Browsers load it, too. */

export interface SharedOptions {
  /**
   * How long a result is reused, from when its work began: it may be as old as that. Default: only while the work runs.
   * `Infinity`: until it is forgotten.
   */
  keepMs?: number;
  /** The same for a failure, from when it came. Default: the next call tries again. */
  keepFailureMs?: number;
  /** Work is aborted when the last caller has left. By default it goes on, for the next one. */
  endsUnwatched?: boolean;
  /** Called when work is over and nothing of it is kept. */
  onForgotten?: () => void;
  /** Monotonic. */
  nowMs?: () => number;
}

/** Results are kept until they are forgotten; failures are not kept. */
export const KEPT: SharedOptions = { keepMs: Number.POSITIVE_INFINITY };

/** Also failures are kept: the work is done once, whatever comes of it. */
export const ONCE: SharedOptions = { ...KEPT, keepFailureMs: Number.POSITIVE_INFINITY };

interface Waiting {
  signal?: AbortSignal | undefined;
}

interface Run<T> {
  promise: Promise<T>; // kept: this is Shared
  controller: AbortController;
  callers: number;
  isRunning: boolean;
  /** When it is too old. */
  untilMs: number;
}

/**
 * Work that several callers share. It has a signal of its own: that of a caller ends only the waiting of that caller. A
 * failure goes to those who wait; where nobody does, it is nobody's, and never an unhandled rejection.
 */
export class Shared<T> {
  readonly #options: SharedOptions;
  readonly #nowMs: () => number;
  #run: Run<T> | undefined;

  constructor(options: SharedOptions = {}) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  get isRunning(): boolean {
    return this.#run?.isRunning === true && !isAborted(this.#run);
  }

  /** The result of the work that runs, or of earlier work that is kept; of this work if there is none. */
  run(work: (signal: AbortSignal) => T | Promise<T>, { signal }: Waiting = {}): Promise<T> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    let run = this.#run;
    const isOld = run && run.untilMs !== Number.POSITIVE_INFINITY && this.#nowMs() > run.untilMs;
    if (!run || isOld || isAborted(run)) run = this.#start(work);
    return this.#wait(run, signal);
  }

  /** The result so far, when work has ended: `undefined` if there is none, or it is a failure, which those who ran it have. */
  async last({ signal }: Waiting = {}): Promise<T | undefined> {
    const run = this.#run;
    if (!run) return undefined;
    try {
      return await this.#wait(run, signal);
    } catch {
      // A failure goes to those who ran the work.
      signal?.throwIfAborted();
      return undefined;
    }
  }

  /** The next call starts anew. Work that runs goes on, for those who wait for it. */
  forget(): void {
    this.#run = undefined;
  }

  #start(work: (signal: AbortSignal) => T | Promise<T>): Run<T> {
    const { keepMs = 0, keepFailureMs = 0 } = this.#options;
    const startedMs = this.#nowMs();
    const controller = new AbortController();
    const promise = (async () => work(controller.signal))();
    const run: Run<T> = { promise, controller, callers: 0, isRunning: true, untilMs: Number.POSITIVE_INFINITY };
    this.#run = run;
    const settle = (untilMs: number, isKept: boolean) => {
      run.isRunning = false;
      run.untilMs = untilMs;
      if ((isKept && !isAborted(run)) || this.#run !== run) return;
      this.#run = undefined;
      this.#options.onForgotten?.();
    };
    // Before anybody can wait: nothing is ever unhandled, and who gets the result can run the work again.
    promise.then(
      () => settle(startedMs + keepMs, keepMs > 0),
      () => settle(this.#nowMs() + keepFailureMs, keepFailureMs > 0),
    );
    return run;
  }

  #wait(run: Run<T>, signal: AbortSignal | undefined): Promise<T> {
    run.callers++;
    if (!signal) return run.promise;
    return new Promise<T>((resolve, reject) => {
      const leave = () => {
        reject(signal.reason);
        run.callers--;
        if (this.#options.endsUnwatched && run.isRunning && run.callers === 0)
          run.controller.abort(new Error('nobody waits for it any more'));
      };
      signal.addEventListener('abort', leave, { once: true });
      const stay = () => signal.removeEventListener('abort', leave);
      run.promise.then(stay, stay);
      run.promise.then(resolve, reject);
      if (signal.aborted) leave();
    });
  }
}

/** It is only waited for by who closes: the next caller starts anew. */
function isAborted({ controller }: Run<unknown>): boolean {
  return controller.signal.aborted;
}

/** The same for each key. `isKept`: results are kept until they are cleared; otherwise, they are shared while the work runs. */
export class SharedByKey<K, T> {
  readonly #options: SharedOptions;
  readonly #byKey = new Map<K, Shared<T>>();

  constructor({ isKept = false, endsUnwatched = false }: { isKept?: boolean; endsUnwatched?: boolean } = {}) {
    this.#options = { endsUnwatched, ...(isKept && KEPT) };
  }

  has(key: K): boolean {
    return this.#byKey.has(key);
  }

  run(key: K, work: (signal: AbortSignal) => T | Promise<T>, waiting: Waiting = {}): Promise<T> {
    if (waiting.signal?.aborted) return Promise.reject(waiting.signal.reason);
    const shared = this.#byKey.get(key) ?? this.#add(key);
    return shared.run(work, waiting);
  }

  clear(): void {
    this.#byKey.clear();
  }

  /** The next call for it starts anew. */
  forget(key: K): void {
    this.#byKey.delete(key);
  }

  #add(key: K): Shared<T> {
    const onForgotten = () => {
      if (this.#byKey.get(key) === shared) this.#byKey.delete(key);
    };
    const shared = new Shared<T>({ ...this.#options, onForgotten });
    this.#byKey.set(key, shared);
    return shared;
  }
}

declare const isOwned: unique symbol;

/** Work in the background, which somebody waits for at most when it is stopped. It never rejects: see `owned`. */
export type Owned = Promise<void> & { readonly [isOwned]: true }; // kept: what owned() returns

/** Makes work in the background somebody's: its failure goes to `onError`, when it happens and not when it is awaited. */
export function owned(work: Promise<unknown>, onError: (error: unknown) => void): Owned {
  return work.then(() => {}, onError) as Owned;
}

/**
 * Work whose failure matters to nobody here: its result is no longer needed, or its failure is reported elsewhere. Whoever
 * calls it says why.
 */
export function unneeded(work: Promise<unknown> | undefined): Owned {
  return owned(work ?? NO_WORK, () => {});
}

/** For work that is awaited later, or by nobody if its caller leaves first: a failure goes to whoever awaits it. */
export function awaitedLater<T>(work: Promise<T>): Promise<T> {
  void unneeded(work); // only no unhandled rejection until then
  return work;
}

/** Nothing runs. */
export const NO_WORK = Promise.resolve() as Owned;

/** Waits for all of them, but not longer. */
export async function allWithin(mostMs: number, all: Iterable<Promise<void> | undefined>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const longEnough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, mostMs);
  });
  await Promise.race([Promise.all(all), longEnough]);
  clearTimeout(timer);
}
