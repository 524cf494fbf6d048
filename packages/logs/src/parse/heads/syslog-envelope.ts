import { isDigit } from '../formats/tokens/byte-scan.ts';
import { severityRank } from './message-levels.ts';

/** Where a line starts behind a byte order mark. */
export function startOfText(bytes: Buffer, start: number): number {
  return bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf ? start + 3 : start;
}

/** Where a line starts behind a byte order mark and a priority of syslog like `<34>`. */
export function skipEnvelope(bytes: Buffer, start: number, end: number): number {
  const from = startOfText(bytes, start);
  return bytes[from] === 60 && from < end ? priorityEnd(bytes, from, end) : from;
}

/** The position after `<34>`, and the version that RFC 5424 puts behind it; `start` if there is no priority. */
function priorityEnd(bytes: Buffer, start: number, end: number): number {
  let at = start + 1;
  while (at < end && at < start + 4 && isDigit(bytes[at])) at++;
  if (at === start + 1 || at >= end || bytes[at] !== 62) return start;
  return bytes[at + 1] === 49 && bytes[at + 2] === 32 && at + 2 < end ? at + 3 : at + 1;
}

/** The rank of the severity in the priority of a line; 0 if it has none. */
export function priorityRank(bytes: Buffer, start: number, end: number): number {
  const from = startOfText(bytes, start);
  if (bytes[from] !== 60 || priorityEnd(bytes, from, end) === from) return 0;
  let value = 0;
  for (let at = from + 1; isDigit(bytes[at]); at++) value = value * 10 + (bytes[at] ?? 48) - 48;
  return value > 191 ? 0 : severityRank(value & 7);
}
