import { ClientError, codeOf, ERROR_KINDS, isErrorCode } from '@porthole/client';
import { session } from './session.ts';
import { Store } from './store.ts';

export interface Failure {
  code: string;
  detail: string;
  /** HTTP status; `null` where there was no answer. */
  status: number | null;
  /** Since when it has failed, without a success between. */
  sinceMs: number;
}

export interface ResourceState<Value> {
  /** The newest there is, also while it fails. */
  value: Value | null;
  /** When that was had. */
  asOfMs: number | null;
  failure: Failure | null;
  isLoading: boolean;
}

/** The time and the page, as far as a resource needs them. */
export interface ResourceEnv {
  now(): number;
  /** Runs it once after so long; what is returned prevents that. */
  after(ms: number, run: () => void): () => void;
  isVisible(): boolean;
  /** Runs it whenever the page comes into view, the network comes back or a token was given; what is returned ends that. */
  onReturn(run: () => void): () => void;
}

export interface ResourceOptions {
  /** Loaded again so long after the last time. Never again by itself unless given. */
  everyMs?: number;
  env?: ResourceEnv;
}

/** After a failure it is tried again at least this soon, so that what is back is seen. */
const RETRY_MS = 5000;

/** Something asked of the node while anyone watches: the last answer stays when a later one fails. */
export class Resource<Value> {
  readonly state: Store<ResourceState<Value>>;
  readonly #load: (signal: AbortSignal) => Promise<Value>;
  readonly #everyMs: number | undefined;
  readonly #env: ResourceEnv;
  #watchers = 0;
  #loading: AbortController | undefined;
  #cancelTimer: (() => void) | undefined;
  #endReturn: (() => void) | undefined;

  constructor(load: (signal: AbortSignal) => Promise<Value>, options: ResourceOptions = {}) {
    this.#load = load;
    this.#everyMs = options.everyMs;
    this.#env = options.env ?? BROWSER;
    this.state = new Store<ResourceState<Value>>({ value: null, asOfMs: null, failure: null, isLoading: false });
  }

  /** Keeps it fresh until what is returned is called. */
  watch(): () => void {
    this.#watchers++;
    if (this.#watchers === 1) {
      this.#endReturn = this.#env.onReturn(() => this.#loadIfDue());
      this.#loadIfDue();
    }
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#watchers--;
      if (this.#watchers === 0) this.#suspend();
    };
  }

  /** Now, whatever the time; one that is under way is enough. */
  reload(): void {
    if (this.#loading) return;
    this.#cancelTimer?.();
    const loading = new AbortController();
    this.#loading = loading;
    this.#change({ isLoading: true });
    this.#load(loading.signal).then(
      (value) => {
        if (this.#ended(loading)) this.#settle({ value, asOfMs: this.#env.now(), failure: null, isLoading: false });
      },
      (thrown: unknown) => {
        if (this.#ended(loading)) this.#settle({ failure: this.#toFailure(thrown), isLoading: false });
      },
    );
  }

  #ended(loading: AbortController): boolean {
    if (this.#loading !== loading) return false;
    this.#loading = undefined;
    return true;
  }

  #settle(change: Partial<ResourceState<Value>>): void {
    this.#change(change);
    if (this.#watchers > 0) this.#plan();
  }

  #plan(): void {
    this.#cancelTimer?.();
    const waitMs = this.#waitMs();
    if (waitMs === undefined) return;
    // A page out of sight asks nothing; when it comes back, what is due is loaded at once.
    this.#cancelTimer = this.#env.after(waitMs, () => {
      if (this.#env.isVisible()) this.reload();
    });
  }

  #waitMs(): number | undefined {
    const { failure } = this.state.value;
    if (failure && !isTransient(failure)) return this.#everyMs;
    return failure ? Math.min(this.#everyMs ?? RETRY_MS, RETRY_MS) : this.#everyMs;
  }

  #loadIfDue(): void {
    const { asOfMs, failure } = this.state.value;
    const age = asOfMs === null ? Number.POSITIVE_INFINITY : this.#env.now() - asOfMs;
    if (failure || age >= (this.#everyMs ?? Number.POSITIVE_INFINITY)) this.reload();
    else if (!this.#loading) this.#plan();
  }

  #suspend(): void {
    this.#cancelTimer?.();
    this.#endReturn?.();
    this.#loading?.abort();
    if (!this.#loading) return;
    this.#loading = undefined;
    this.#change({ isLoading: false });
  }

  #change(change: Partial<ResourceState<Value>>): void {
    this.state.set({ ...this.state.value, ...change });
  }

  #toFailure(thrown: unknown): Failure {
    return { ...toProblem(thrown), sinceMs: this.state.value.failure?.sinceMs ?? this.#env.now() };
  }
}

/** Whether a failure may be over soon; a request that was refused as such is refused again. */
function isTransient({ code, status }: Failure): boolean {
  return status === null || (isErrorCode(code) && ERROR_KINDS[code].retryable) || status >= 500;
}

/** Anything thrown, as it is told: the API's code and detail where it has them. */
export function toProblem(thrown: unknown): Omit<Failure, 'sinceMs'> {
  return {
    code: codeOf(thrown),
    detail: thrown instanceof Error ? thrown.message : String(thrown),
    status: thrown instanceof ClientError ? (thrown.status ?? null) : null,
  };
}

const BROWSER: ResourceEnv = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  isVisible: () => document.visibilityState === 'visible',
  onReturn(run) {
    const seen = () => {
      if (document.visibilityState === 'visible') run();
    };
    document.addEventListener('visibilitychange', seen);
    window.addEventListener('online', seen);
    const endToken = session.hasToken.subscribe(() => {
      if (session.hasToken.value) run();
    });
    return () => {
      endToken();
      document.removeEventListener('visibilitychange', seen);
      window.removeEventListener('online', seen);
    };
  },
};
