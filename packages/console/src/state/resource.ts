import type { ClusterNodes } from '@porthole/client';
import { listen } from './listen.ts';
import { session } from './session.ts';
import { parseTexts, Store, type TextStorage, tryStorage } from './store.ts';
import { isRetryable, type Problem, toProblem } from './to-problem.ts';

export interface Failure extends Problem {
  /** Time of the first failure since the last success. */
  sinceMs: number;
}

export interface ResourceState<Value> {
  /** The last loaded value, also while reloading fails. */
  value: Value | null;
  /** When it was loaded. */
  asOfMs: number | null;
  failure: Failure | null;
  /** No response has arrived yet, or somebody asked for another one. */
  isLoading: boolean;
}

export interface ResourceEnv {
  now(): number;
  /** Runs once after this time; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
  isVisible(): boolean;
  /**
   * Runs when the page becomes visible, the network is back or a token was entered; the returned function unsubscribes.
   */
  onReturn(run: () => void): () => void;
}

export interface ResourceOptions {
  /** Reload interval. Without it, a resource is loaded once. */
  everyMs?: number;
  /** Pause before the first load: what changes quickly sends no requests. */
  pauseMs?: number;
  /** While it is true nothing is loaded; what is being loaded is aborted, and loaded again afterwards. */
  givesWay?: Pick<Store<boolean>, 'value' | 'subscribe'>;
  env?: ResourceEnv;
}

/** Longest wait after a failure, so that recovery is noticed. */
const RETRY_MS = 5000;

/** Data loaded from the node while someone subscribes; the last value stays when a reload fails. */
export class Resource<Value> {
  readonly state = new Store<ResourceState<Value>>({ value: null, asOfMs: null, failure: null, isLoading: true });
  readonly #load: (signal: AbortSignal) => Promise<Value>;
  readonly #options: ResourceOptions;
  readonly #env: ResourceEnv;
  #watchers = 0;
  #loading: AbortController | undefined;
  #cancelTimer: (() => void) | undefined;
  #ends: (() => void)[] = [];

  constructor(load: (signal: AbortSignal) => Promise<Value>, options: ResourceOptions = {}) {
    this.#load = load;
    this.#options = options;
    this.#env = options.env ?? BROWSER;
  }

  /** Keeps it fresh until the returned function is called. */
  watch(): () => void {
    const { givesWay } = this.#options;
    this.#watchers++;
    if (this.#watchers === 1) {
      this.#ends.push(this.#env.onReturn(() => this.#loadIfDue()));
      if (givesWay) this.#ends.push(givesWay.subscribe(() => (givesWay.value ? this.#stop() : this.#loadIfDue())));
      this.#loadIfDue();
    }
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#watchers--;
      if (this.#watchers > 0) return;
      for (const end of this.#ends.splice(0)) end();
      this.#stop();
    };
  }

  /** Reloads now, unless a load is running or has to give way. */
  reload(): void {
    this.#change({ isLoading: true });
    this.#begin();
  }

  #begin(): void {
    if (this.#loading || this.#options.givesWay?.value) return;
    this.#cancelTimer?.();
    const loading = new AbortController();
    this.#loading = loading;
    const settle = (change: Partial<ResourceState<Value>>) => {
      if (this.#loading !== loading) return;
      this.#loading = undefined;
      this.#change({ ...change, isLoading: false });
      if (this.#watchers > 0) this.#plan();
    };
    this.#load(loading.signal).then(
      (value) => settle({ value, asOfMs: this.#env.now(), failure: null }),
      (thrown: unknown) => {
        const sinceMs = this.state.value.failure?.sinceMs ?? this.#env.now();
        settle({ failure: { ...toProblem(thrown), sinceMs } });
      },
    );
  }

  #plan(): void {
    const { everyMs } = this.#options;
    const { failure } = this.state.value;
    const isRetried = failure && isTransient(failure);
    const waitMs = isRetried ? Math.min(everyMs ?? RETRY_MS, RETRY_MS) : everyMs;
    if (waitMs !== undefined) this.#beginAfter(waitMs);
  }

  #beginAfter(waitMs: number): void {
    this.#cancelTimer?.();
    // Hidden pages send no requests; what is due is loaded when they become visible.
    this.#cancelTimer = this.#env.after(waitMs, () => {
      if (this.#env.isVisible()) this.#begin();
    });
  }

  #loadIfDue(): void {
    if (this.#loading) return;
    const { everyMs = Number.POSITIVE_INFINITY, pauseMs = 0 } = this.#options;
    const { asOfMs, failure, isLoading } = this.state.value;
    const age = asOfMs === null ? Number.POSITIVE_INFINITY : this.#env.now() - asOfMs;
    if (!failure && !isLoading && age < everyMs) this.#plan();
    else if (pauseMs > 0) this.#beginAfter(pauseMs);
    else this.#begin();
  }

  #stop(): void {
    this.#cancelTimer?.();
    this.#loading?.abort();
    this.#loading = undefined;
  }

  #change(change: Partial<ResourceState<Value>>): void {
    this.state.set({ ...this.state.value, ...change });
  }
}

/** Whether a retry may succeed; an invalid request fails again. */
function isTransient(failure: Failure): boolean {
  return failure.status === null || isRetryable(failure) || failure.status >= 500;
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
    const ends = [
      listen(document, 'visibilitychange', seen),
      listen(window, 'online', seen),
      session.hasToken.subscribe(() => session.hasToken.value && run()),
    ];
    return () => {
      for (const end of ends) end();
    };
  },
};

const NODES_MS = 10_000;

const COLOURS = 8;

const COLOURS_KEY = 'porthole.nodes';

/** More nodes than a cluster has; a browser may see several clusters. */
const MAX_COLOURED = 2000;

/** The node of this page as it was when the page was loaded. */
export const startVersion = new Store<{ id: string; version: string } | null>(null);

export const cluster = new Resource<ClusterNodes>(
  async (signal) => {
    await session.goHome();
    const response = await session.client.nodes({ signal });
    session.learn(response.nodes);
    const self = response.nodes.find(({ isSelf }) => isSelf);
    if (self && !startVersion.value) startVersion.set({ id: self.id, version: self.node.version });
    return response;
  },
  { everyMs: NODES_MS },
);

/** Configuration keys of the node that serves this page; loaded once, on first use. */
export const configKeys = new Resource<string[]>(async (signal) => {
  const { configs } = await session.client.settings({}, { signal });
  return (configs[0]?.settings?.settings ?? []).map(({ key }) => key);
});

/**
 * The colours of nodes, kept in the browser: whoever has one keeps it when others come and go. A new node gets the
 * colour that the fewest have.
 */
export class NodeColours {
  readonly #storage: TextStorage | undefined;
  readonly #ids: string[];

  constructor(storage: TextStorage | undefined) {
    this.#storage = storage;
    this.#ids = parseTexts(tryStorage(() => storage?.getItem(COLOURS_KEY)) ?? '').slice(-MAX_COLOURED);
  }

  /** Gives colours to nodes that have none, in the order of their ids. */
  add(ids: readonly string[]): void {
    const fresh = ids.filter((id) => !this.#ids.includes(id)).sort();
    if (fresh.length === 0) return;
    // Beyond the limit a new node takes the place of one that is gone, so that the others keep theirs.
    const gone = this.#ids.flatMap((id, index) => (ids.includes(id) ? [] : [index]));
    for (const id of fresh) {
      const index = this.#ids.length < MAX_COLOURED ? this.#ids.length : gone.shift();
      if (index === undefined) break;
      this.#ids[index] = id;
    }
    tryStorage(() => this.#storage?.setItem(COLOURS_KEY, JSON.stringify(this.#ids)));
  }

  /** 1 to 8, as the style sheet numbers them. One that was never a member gets a colour by its name. */
  of(nodeId: string): number {
    const index = this.#ids.indexOf(nodeId);
    if (index >= 0) return (index % COLOURS) + 1;
    let sum = 0;
    for (const letter of nodeId) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_536;
    return (sum % COLOURS) + 1;
  }
}

const nodeColours = new NodeColours(tryStorage(() => globalThis.window?.localStorage));

cluster.state.subscribe(() => nodeColours.add(cluster.state.value.value?.nodes.map(({ id }) => id) ?? []));

/** The style of what has the colour of a node: its name, its dot, its rows. */
export function nodeStyle(nodeId: string): { color: string } {
  return { color: `var(--node-${nodeColours.of(nodeId)})` };
}
