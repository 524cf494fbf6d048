/**
 * How many times longer than on a quiet machine a test may take and wait. Measured once per run (test/measure-timeout-scale.ts);
 * the environment hands it to every thread.
 */
const TIMEOUT_SCALE = Number(process.env.TEST_TIMEOUT_SCALE ?? 1);

/** A bound for something that must happen, not for how fast: on a busy machine it is as many times longer. */
export function scaled(ms: number): number {
  return ms * TIMEOUT_SCALE;
}
