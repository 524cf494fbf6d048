import { type RequestClock, readTime } from '@porthole/contract';
import type { ZoneName } from '../../../state/view.ts';
import { formatDate, formatTime, zoneLabel } from '../../../ui/format.ts';

/** Typed times are in the time zone in which times are shown. */
export function timeInputClock(zone: ZoneName, nowMs: number): RequestClock {
  return { nowMs, offsetMsAt: (epochMs) => (zone === 'utc' ? 0 : -60_000 * new Date(epochMs).getTimezoneOffset()) };
}

/** Formats a time so that it can be parsed again. */
export function formatTimeInput(timeMs: number | null, zone: ZoneName): string {
  if (timeMs === null) return '';
  return new Date(timeMs + timeInputClock(zone, timeMs).offsetMsAt(timeMs))
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ');
}

/** How a typed time is parsed, or what is wrong with it; empty while nothing is typed. */
export function timePreview(text: string, clock: RequestClock, zone: ZoneName): string {
  if (text.trim() === '') return '';
  const reading = readTime(text, clock);
  if ('problem' in reading) return reading.problem;
  const { timeMs } = reading;
  return `${formatDate(timeMs, zone)} ${formatTime(timeMs, zone)} ${zoneLabel(zone, timeMs)}`;
}
