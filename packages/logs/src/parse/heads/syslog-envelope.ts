import { COLON, isDigit, OPEN_BRACKET, SPACE } from '../formats/tokens/byte-scan.ts';
import { severityRank } from '../level.ts';

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

/** The host and the tag of a line of syslog are no longer. */
const LONGEST_TAG = 128;

/** The position of the colon behind the tag of a line of syslog; negative if there is none. */
export function tagEnd(bytes: Buffer, timeEnd: number, lineEnd: number): number {
  const limit = Math.min(lineEnd - 2, timeEnd + LONGEST_TAG);
  for (let at = timeEnd; at < limit; at++) if (bytes[at] === COLON && bytes[at + 1] === SPACE) return at;
  return -1;
}

/** The program that wrote a line of syslog, without its process; empty if there is none. */
export function syslogTag(bytes: Buffer, timeEnd: number, lineEnd: number): string {
  const end = tagEnd(bytes, timeEnd, lineEnd);
  let start = end;
  while (start > timeEnd && bytes[start - 1] !== SPACE) start--;
  let to = start;
  while (to < end && bytes[to] !== OPEN_BRACKET) to++;
  return end < 0 ? '' : bytes.toString('latin1', start, to);
}
