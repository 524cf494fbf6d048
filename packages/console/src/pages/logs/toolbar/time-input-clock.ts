import type { RequestClock } from '@porthole/contract';
import type { ZoneName } from '../../../state/view.ts';

/** How times are read that the user writes: in the zone in which times are shown. */
export function timeInputClock(zone: ZoneName, nowMs: number): RequestClock {
  return { nowMs, offsetMsAt: (epochMs) => (zone === 'utc' ? 0 : -60_000 * new Date(epochMs).getTimezoneOffset()) };
}

/** A time so that it can be written and read again. */
export function formatTimeInput(timeMs: number | null, zone: ZoneName): string {
  if (timeMs === null) return '';
  return new Date(timeMs + timeInputClock(zone, timeMs).offsetMsAt(timeMs))
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ');
}
