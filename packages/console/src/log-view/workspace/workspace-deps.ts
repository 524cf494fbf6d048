import { Store } from '../../state/store.ts';
import { changed } from '../model/reduce.ts';
import { type FindStatus, INITIAL, type WorkspaceState } from '../model/workspace-state.ts';
import type { LogSource, ShownRecord } from '../source/log-source.ts';

export const PAGE_RECORDS = 200;

/** Time budget of one request: its response shows the progress of the scan. */
export const SLICE_MS = 2000;

/** A scan that finds too little continues for this long before it stops. */
export const SCAN_MS = 20_000;

/** Pauses before a failed request is repeated; each is twice as long as the one before. */
export const FIRST_WAIT_MS = 1000;
export const LONGEST_WAIT_MS = 15_000;

/** The state of a workspace. Subscribers are notified of every change at once. */
export class LogStore {
  readonly #store = new Store(INITIAL);

  get state(): WorkspaceState {
    return this.#store.value;
  }

  set(part: Partial<WorkspaceState>): void {
    this.#store.set(changed(this.state, part));
  }

  change<Rest extends unknown[]>(
    make: (state: WorkspaceState, ...rest: Rest) => Partial<WorkspaceState>,
    ...rest: Rest
  ): void {
    const part = make(this.state, ...rest);
    if (part !== this.state) this.set(part);
  }

  find(part: Partial<FindStatus>): void {
    this.set({ find: { ...this.state.find, ...part } });
  }

  subscribe(listener: () => void): () => void {
    return this.#store.subscribe(listener);
  }
}

/** Shared by the parts of a workspace that send requests. */
export interface WorkspaceDeps {
  store: LogStore;
  clock: WorkspaceClock;
  source(): LogSource | undefined;
  /** Fires when the rows are replaced. */
  rowsSignal(): AbortSignal;
  /** Brings a record into view and focuses it; resolves when it is shown, or something else is. */
  goTo(record: ShownRecord): Promise<void>;
}

export interface WorkspaceClock {
  now(): number;
  /** Resolves after this time, or at once when the signal fires. */
  wait(waitMs: number, signal: AbortSignal): Promise<void>;
  /** Runs once after one of the next frames; soon if no frames are drawn. */
  schedule(callback: () => void): void;
}

/** Fallback delay: hidden pages draw no frames. */
const WITHOUT_FRAMES_MS = 16;
const LATE_FRAME_MS = 250;

/** Minimum time between two calls: leaves time for input between drawing. */
const BETWEEN_FRAMES_MS = 70;

/** Browser APIs that do not exist elsewhere. */
const page: { document?: { hidden: boolean }; requestAnimationFrame?: (callback: () => void) => unknown } =
  globalThis as object;

export const PAGE_CLOCK: WorkspaceClock = {
  now: () => Date.now(),
  wait: (waitMs, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, waitMs);
      signal.addEventListener('abort', end);
    }),
  schedule: (callback) => {
    const pauseMs = Math.max(0, lastMs + BETWEEN_FRAMES_MS - performance.now());
    setTimeout(() => afterFrame(callback), pauseMs);
  },
};

/** When the last call ended. */
let lastMs = Number.NEGATIVE_INFINITY;

function afterFrame(callback: () => void): void {
  const hasFrames = page.requestAnimationFrame !== undefined && page.document?.hidden === false;
  let isCalled = false;
  const once = () => {
    if (isCalled) return;
    isCalled = true;
    clearTimeout(timer);
    callback();
    lastMs = performance.now();
  };
  const timer = setTimeout(once, hasFrames ? LATE_FRAME_MS : WITHOUT_FRAMES_MS);
  // After the frame, not in it: layout and painting are separate tasks, and keys are handled in between.
  if (hasFrames) page.requestAnimationFrame?.(() => setTimeout(once));
}

/** Abort reason. A plain object: creating an Error captures a stack trace, which costs milliseconds. */
const ENDED = { name: 'AbortError', message: 'superseded' } as const;

/** A cancellable task of which only the latest matters. */
export class Attempt {
  #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts a task and cancels the previous one. */
  begin(): AbortSignal {
    this.end();
    this.#controller = new AbortController();
    return this.#controller.signal;
  }

  end(): void {
    this.#controller.abort(ENDED);
  }
}
