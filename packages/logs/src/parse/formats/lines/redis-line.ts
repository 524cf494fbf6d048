import { parseFraction, readMsOfDay, twoDigits, wallClockMs } from '../../timestamp.ts';
import type { Zone } from '../../zone.ts';
import type { LineStart } from '../define-format.ts';
import { COLON, isLetter, SPACE, skipDigits, startsWith } from '../tokens/byte-scan.ts';
import { readMonthName } from '../tokens/iso-time.ts';
import { readTimeToken } from '../tokens/value-tokens.ts';

/** A signal handler cannot determine the local time: `1:signal-handler (1723801703) message`, in seconds since 1970. */
const SIGNAL = ':signal-handler (';

/** Redis: `1:M 16 Aug 2024 09:48:23.118 * message`. The character before the message is the level. */
export function readRedisStart(bytes: Buffer, start: number, end: number, zone: Zone, found: LineStart): boolean {
  const pidEnd = skipDigits(bytes, start, Math.min(end, start + 10));
  if (startsWith(bytes, pidEnd, end, SIGNAL)) return readSignalTime(bytes, pidEnd + SIGNAL.length, end, zone, found);
  const at = pidEnd + 3;
  if (pidEnd === start || at + 20 > end || bytes[pidEnd] !== COLON) return false;
  if (!isLetter(bytes[pidEnd + 1]) || bytes[pidEnd + 2] !== SPACE) return false;
  const century = twoDigits(bytes, at + 7);
  const yearOfCentury = twoDigits(bytes, at + 9);
  if (bytes[at + 2] !== SPACE || bytes[at + 6] !== SPACE || bytes[at + 11] !== SPACE) return false;
  if ((century | yearOfCentury) < 0) return false;
  const year = century * 100 + yearOfCentury;
  const date = { year, month: readMonthName(bytes, at + 3, end), day: twoDigits(bytes, at) };
  const localMs = wallClockMs(date, readMsOfDay(bytes, at + 12));
  if (Number.isNaN(localMs)) return false;
  const fraction = parseFraction(bytes, at + 20, end);
  found.timeMs = zone.toEpochMs(localMs + fraction.ms);
  found.bodyAt = fraction.end;
  if (fraction.end + 2 < end && bytes[fraction.end + 2] === SPACE) found.rank = markRank(bytes[fraction.end + 1]);
  return true;
}

function readSignalTime(bytes: Buffer, start: number, end: number, zone: Zone, found: LineStart): boolean {
  const close = skipDigits(bytes, start, end);
  if (close >= end || bytes[close] !== 41) return false;
  found.timeMs = readTimeToken(bytes, start, close, zone);
  found.bodyAt = close + 1;
  return !Number.isNaN(found.timeMs);
}

/** `.` debug, `-` verbose, `*` notice, `#` warning. */
function markRank(byte: number | undefined): number {
  if (byte === 46 || byte === 45) return 2;
  if (byte === 42) return 3;
  return byte === 35 ? 4 : 0;
}
