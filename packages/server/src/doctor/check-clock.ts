import type { CheckContext } from './check-context.ts';
import { type CheckOutcome, ok, problem } from './check-result.ts';

/** File systems round times, and clocks are set by small steps. */
const TOLERANCE_MS = 60_000;

/** Whether the system time can be right: this program cannot have been written after now. */
export async function checkClock({ system }: CheckContext): Promise<CheckOutcome[]> {
  const nowMs = system.nowMs();
  const now = new Date(nowMs).toISOString();
  const writtenMs = await system.programWrittenMs();
  if (nowMs >= writtenMs - TOLERANCE_MS) return [ok(`it is ${now}`)];
  const written = new Date(writtenMs).toISOString();
  return [
    problem(
      `it is ${now} here, but this program was installed at ${written}: the clock is wrong`,
      'set the clock, and keep it right: "timedatectl set-ntp true"',
    ),
  ];
}
