/** Time as a workspace needs it. */
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
