import { BACKSLASH, isDigit, QUOTE, SPACE } from './byte-scan.ts';

/**
 * The status that follows a quoted request, as in `"GET / HTTP/1.1" 200 `; 0 if there is none. Starts at the opening
 * quote.
 */
export function readStatus(bytes: Buffer, start: number, end: number): number {
  if (bytes[start] !== QUOTE || start >= end) return 0;
  for (let at = start + 1; at + 5 <= end; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at++;
    else if (byte === QUOTE && bytes[at + 1] === SPACE && isStatus(bytes, at + 2, end)) {
      return 100 * digit(bytes, at + 2) + 10 * digit(bytes, at + 3) + digit(bytes, at + 4);
    }
  }
  return 0;
}

/** Exactly three digits. A quote followed by anything else belongs to the request: clients can send any text. */
function isStatus(bytes: Buffer, at: number, end: number): boolean {
  if (!isDigit(bytes[at]) || !isDigit(bytes[at + 1]) || !isDigit(bytes[at + 2])) return false;
  return at + 3 >= end || bytes[at + 3] === SPACE;
}

function digit(bytes: Buffer, at: number): number {
  return (bytes[at] ?? 48) - 48;
}
