import type { Zone } from '../../zone.ts';
import { CLOSE_BRACKET, OPEN_BRACKET } from './byte-scan.ts';
import { type ReadTime, readIsoTime } from './iso-time.ts';

/** Reads a time at the start of a line, bare or in brackets; `time.end` is after the bracket. */
export function readLeadingTime(bytes: Buffer, start: number, end: number, zone: Zone, time: ReadTime): boolean {
  if (start >= end) return false;
  if (bytes[start] !== OPEN_BRACKET) return readIsoTime(bytes, start, end, zone, time);
  if (!readIsoTime(bytes, start + 1, end, zone, time)) return false;
  if (time.end >= end || bytes[time.end] !== CLOSE_BRACKET) return false;
  time.end++;
  return true;
}
