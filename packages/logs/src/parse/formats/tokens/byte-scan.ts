export const TAB = 9;
export const SPACE = 32;
export const QUOTE = 34;
export const COLON = 58;
export const OPEN_BRACKET = 91;
export const BACKSLASH = 92;
export const CLOSE_BRACKET = 93;

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}

export function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && (byte | 0x20) >= 97 && (byte | 0x20) <= 122;
}

export function isCapital(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 65 && byte <= 90;
}

export function skipSpaces(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
  return at;
}

/** The position of the next space or tab. */
export function skipWord(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== SPACE && bytes[at] !== TAB) at++;
  return at;
}

export function skipDigits(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && isDigit(bytes[at])) at++;
  return at;
}

export function skipLetters(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && isLetter(bytes[at])) at++;
  return at;
}

/** Position of the bracket that closes the one at `start`, nesting included; `end` if there is none. */
export function closingBracket(bytes: Buffer, start: number, end: number): number {
  let depth = 0;
  for (let at = start; at < end; at++) {
    if (bytes[at] === OPEN_BRACKET) depth++;
    else if (bytes[at] === CLOSE_BRACKET && --depth === 0) return at;
  }
  return end;
}

/** Whether the bytes at `start` are this ASCII text, complete before `end`. */
export function startsWith(bytes: Buffer, start: number, end: number, text: string): boolean {
  if (end - start < text.length) return false;
  for (let index = 0; index < text.length; index++) {
    if (bytes[start + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}

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
