import { createZone } from '@porthole/logs';
import type { CheckContext } from './check-context.ts';
import { type CheckOutcome, ok, warning } from './check-result.ts';

/** In which zone times without one are read. A name that is no zone is refused with the settings already. */
export async function checkTimeZone({ settings: { node }, env, system }: CheckContext): Promise<CheckOutcome[]> {
  const { name, offsetMsAt } = createZone(node.timeZone);
  const message = `times in logs are read as ${name}, now ${formatOffset(offsetMsAt(system.nowMs()))}`;
  if (node.timeZone !== '') return [ok(`${message} (node.time-zone)`)];
  const { TZ } = env;
  if (TZ && !isZone(TZ.replace(/^:/, '')))
    return [warning(`${message}, because TZ=${JSON.stringify(TZ)} is no zone`, 'correct TZ, or set node.time-zone')];
  return [ok(`${message} (the zone of this machine)`)];
}

function isZone(name: string): boolean {
  try {
    createZone(name);
    return true;
  } catch {
    return false;
  }
}

function formatOffset(offsetMs: number): string {
  const minutes = Math.abs(Math.round(offsetMs / 60_000));
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `UTC${offsetMs < 0 ? '-' : '+'}${hours}:${rest}`;
}
