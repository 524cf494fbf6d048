/**
 * How many times longer than on an idle machine a test may take and wait. Measured once per run
 * (test/measure-timeout-scale.ts) and passed to every thread by the environment.
 */
const TIMEOUT_SCALE = Number(process.env.TEST_TIMEOUT_SCALE ?? 1);

/** A bound for something that must happen, not for how fast: scaled up on a busy machine. */
export function scaled(ms: number): number {
  return ms * TIMEOUT_SCALE;
}
