import { type RequestClock, readTime } from '@porthole/contract';
import type { ZoneName } from '../../../state/view.ts';
import { formatDate, formatTime, zoneLabel } from '../../../ui/format.ts';

/** What a written time is read as, or what is wrong with it; empty while nothing is written. */
export function timePreview(text: string, clock: RequestClock, zone: ZoneName): string {
  if (text.trim() === '') return '';
  const reading = readTime(text, clock);
  if ('problem' in reading) return reading.problem;
  const { timeMs } = reading;
  return `${formatDate(timeMs, zone)} ${formatTime(timeMs, zone)} ${zoneLabel(zone, timeMs)}`;
}
