import type { CheckContext } from './check-context.ts';
import { type CheckOutcome, ok, problem } from './check-result.ts';

/** File systems round timestamps, and clocks are adjusted in small steps. */
const TOLERANCE_MS = 60_000;

/** Whether the system time is plausible: this program cannot have been installed in the future. */
export async function checkClock({ system }: CheckContext): Promise<CheckOutcome[]> {
  const nowMs = system.nowMs();
  const now = new Date(nowMs).toISOString();
  const writtenMs = await system.programWrittenMs();
  if (nowMs >= writtenMs - TOLERANCE_MS) return [ok(`the time is ${now}`)];
  const written = new Date(writtenMs).toISOString();
  return [
    problem(
      `the time is ${now}, but this program was installed at ${written}: the clock is wrong`,
      'set the clock and keep it synchronized: "timedatectl set-ntp true"',
    ),
  ];
}
