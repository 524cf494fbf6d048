import type { Zone } from '@porthole/logs';

/** `1 node`, `2 nodes`. */
export function formatCount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** `2026-11-15 07:20:33.123` in the zone. */
export function formatTime(timeMs: number, { offsetMsAt }: Zone): string {
  return new Date(timeMs + offsetMsAt(timeMs)).toISOString().slice(0, 23).replace('T', ' ');
}

/** RFC 3339, with the offset of the zone. */
export function formatInstant(timeMs: number, { offsetMsAt }: Zone): string {
  const offsetMs = offsetMsAt(timeMs);
  const local = new Date(timeMs + offsetMs).toISOString().slice(0, 23);
  return offsetMs === 0 ? `${local}Z` : `${local}${offsetMs < 0 ? '-' : '+'}${hoursAndMinutes(Math.abs(offsetMs))}`;
}

function hoursAndMinutes(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}
