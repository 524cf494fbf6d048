import { createZone } from '@porthole/logs';
import type { CheckContext } from './check-context.ts';
import { type CheckOutcome, ok, warning } from './check-result.ts';

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
  } catch {
    return false;
  }
}

function formatOffset(offsetMs: number): string {
  const minutes = Math.abs(Math.round(offsetMs / 60_000));
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `UTC${offsetMs < 0 ? '-' : '+'}${hours}:${rest}`;
}
