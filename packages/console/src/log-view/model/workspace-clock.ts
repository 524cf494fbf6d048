/** Time as a workspace needs it. */
export interface WorkspaceClock {
  now(): number;
  /** Resolves after so long, and at once when the signal fires. */
  wait(waitMs: number, signal: AbortSignal): Promise<void>;
  /** Calls back once, behind one of the next frames; soon where no frames are drawn. */
  schedule(callback: () => void): void;
}

/** Where the page is hidden no frame is drawn, and what was asked for before comes late: then this long. */
const WITHOUT_FRAMES_MS = 16;
const LATE_FRAME_MS = 250;

/** Between two calls: nobody reads faster, and something else than drawing has to be done, too. */
const BETWEEN_FRAMES_MS = 70;

/** What a browser has, and nothing else does. */
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

/** When the last call was over. */
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
  // Behind the frame, not in it: laying out many rows and painting them are two tasks, and keys are heard between.
  if (hasFrames) page.requestAnimationFrame?.(() => setTimeout(once));
}
