import type { MomentClock } from '../../log-view/parse-moment.ts';
import type { ZoneName } from '../../state/view.ts';

/** How times are read that the user writes: in the zone in which times are shown. */
export function momentClock(zone: ZoneName, nowMs: number): MomentClock {
  return { nowMs, offsetMinutesAt: (epochMs) => (zone === 'utc' ? 0 : -new Date(epochMs).getTimezoneOffset()) };
}

/** A time so that it can be written and read again. */
export function writtenMoment(timeMs: number | null, zone: ZoneName): string {
  if (timeMs === null) return '';
  const minutes = momentClock(zone, timeMs).offsetMinutesAt(timeMs);
  return new Date(timeMs + minutes * 60_000).toISOString().slice(0, 19).replace('T', ' ');
}
