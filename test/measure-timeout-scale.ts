import { availableParallelism, loadavg } from 'node:os';

/** Enough to be preempted by whatever else runs; on a quiet machine of 2020 it takes REFERENCE_MS. */
const STEPS = 200_000_000;
const REFERENCE_MS = 250;

/** Beyond this a hung test would hold up the run for longer than anyone waits. */
const MAX_SCALE = 8;

/**
 * How many times longer than on a quiet machine things take here and now: what the load average says, and what a short
 * calculation takes, which also notices a slow processor and a low priority. TEST_TIMEOUT_SCALE overrides it.
 */
export function measureTimeoutScale(): number {
  const given = Number(process.env.TEST_TIMEOUT_SCALE);
  if (given > 0) return given;
  const load = (loadavg()[0] ?? 0) / availableParallelism();
  const scale = Math.max(1, load, timeSteps() / REFERENCE_MS);
  return Math.min(MAX_SCALE, Math.ceil(scale));
}

function timeSteps(): number {
  const startedMs = performance.now();
  let sum = 0;
  for (let step = 0; step < STEPS; step++) sum = (sum + step) | 0;
  return sum === Number.POSITIVE_INFINITY ? 0 : performance.now() - startedMs;
}
