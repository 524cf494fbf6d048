import { createZone } from '@porthole/logs';
import { type Look, ok, warning } from './finding.ts';
import type { Subject } from './subject.ts';

/** In which zone times without one are read. A name that is no zone is refused with the settings already. */
export async function lookAtTimeZone({ settings: { node }, env, system }: Subject): Promise<Look[]> {
  const { name, offsetMsAt } = createZone(node.timeZone);
  const told = `times in logs are read as ${name}, now ${showOffset(offsetMsAt(system.nowMs()))}`;
  if (node.timeZone !== '') return [ok(`${told} (node.time-zone)`)];
  const { TZ } = env;
  if (TZ && !isZone(TZ.replace(/^:/, '')))
    return [warning(`${told}, because TZ=${JSON.stringify(TZ)} is no zone`, 'correct TZ, or set node.time-zone')];
  return [ok(`${told} (the zone of this machine)`)];
}

function isZone(name: string): boolean {
  try {
    createZone(name);
    return true;
  } catch {
    return false;
  }
}

function showOffset(offsetMs: number): string {
  const minutes = Math.abs(Math.round(offsetMs / 60_000));
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `UTC${offsetMs < 0 ? '-' : '+'}${hours}:${rest}`;
}
