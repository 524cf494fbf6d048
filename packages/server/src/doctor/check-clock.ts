import { createZone } from '@porthole/logs';
import { type CheckContext, type CheckOutcome, ok, problem, warning } from './check-result.ts';

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

/** The zone of timestamps that have none. An invalid `node.time-zone` is already refused when settings are loaded. */
export async function checkTimeZone({ settings: { node }, env, system }: CheckContext): Promise<CheckOutcome[]> {
  const { name, offsetMsAt } = createZone(node.timeZone);
  const message = `log timestamps without a zone are read as ${name}, now ${formatOffset(offsetMsAt(system.nowMs()))}`;
  if (node.timeZone !== '') return [ok(`${message} (node.time-zone)`)];
  const { TZ } = env;
  if (TZ && !isZone(TZ.replace(/^:/, '')))
    return [
      warning(`${message}, because TZ=${JSON.stringify(TZ)} is not a time zone`, 'correct TZ, or set node.time-zone'),
    ];
  return [ok(`${message} (the system's zone)`)];
}

function isZone(name: string): boolean {
  try {
    createZone(name);
    return true;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return false;
  }
}

function formatOffset(offsetMs: number): string {
  const minutes = Math.abs(Math.round(offsetMs / 60_000));
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `UTC${offsetMs < 0 ? '-' : '+'}${hours}:${rest}`;
}
