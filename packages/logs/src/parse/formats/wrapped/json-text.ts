import { BACKSLASH, QUOTE } from '../tokens/byte-scan.ts';

const NEWLINE = 10;
const LETTER_U = 117;

/** What stands behind a backslash, and what it means. */
const ESCAPES: readonly (number | undefined)[] = (() => {
  const meanings: number[] = [];
  const pairs = { '"': 34, '\\': 92, '/': 47, b: 8, f: 12, n: NEWLINE, r: 13, t: 9 };
  for (const [letter, meaning] of Object.entries(pairs)) meanings[letter.charCodeAt(0)] = meaning;
  return meanings;
})();

export interface UnescapeOptions {
  /** Where the text is written: it needs as much room as it has now. */
  target: Buffer;
  /** End before the first newline. */
  firstLineOnly?: boolean;
}

/**
 * Unescapes the JSON text at `start`, which ends at its closing quote or at `end`; returns the bytes written. What is
 * not a valid escape stays as it is.
 */
export function unescapeText(bytes: Buffer, start: number, end: number, options: UnescapeOptions): number {
  const { target, firstLineOnly = false } = options;
  let to = 0;
  for (let at = start; at < end; ) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) break;
    const escaped = byte === BACKSLASH && at + 1 < end ? bytes[at + 1] : undefined;
    if (escaped === LETTER_U) {
      const code = codeUnit(bytes, at, end);
      if (code >= 0) {
        const low = isHighSurrogate(code) ? codeUnit(bytes, at + 6, end) : -1;
        const isPair = low >= 0xdc00 && low <= 0xdfff;
        to = writeCharacter(target, to, isPair ? 0x10000 + ((code - 0xd800) << 10) + low - 0xdc00 : code);
        at += isPair ? 12 : 6;
        continue;
      }
    }
    const meaning = escaped === undefined ? undefined : ESCAPES[escaped];
    if (meaning === NEWLINE && firstLineOnly) break;
    target[to++] = meaning ?? byte;
    at += meaning === undefined ? 1 : 2;
  }
  return to;
}

/** The number in `\u0041` at `at`; negative if there is none. */
function codeUnit(bytes: Buffer, at: number, end: number): number {
  if (at + 6 > end || bytes[at] !== BACKSLASH || bytes[at + 1] !== LETTER_U) return -1;
  let code = 0;
  for (let index = at + 2; index < at + 6; index++) {
    const digit = hexDigit(bytes[index] ?? 0);
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 0x20;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** Writes a character in UTF-8; half of a pair becomes U+FFFD. */
function writeCharacter(target: Buffer, at: number, character: number): number {
  const code = character >= 0xd800 && character <= 0xdfff ? 0xfffd : character;
  let to = at;
  if (code < 0x80) target[to++] = code;
  else if (code < 0x800) target[to++] = 0xc0 | (code >> 6);
  else if (code < 0x10000) target[to++] = 0xe0 | (code >> 12);
  else target[to++] = 0xf0 | (code >> 18);
  if (code >= 0x10000) target[to++] = 0x80 | ((code >> 12) & 0x3f);
  if (code >= 0x800) target[to++] = 0x80 | ((code >> 6) & 0x3f);
  if (code >= 0x80) target[to++] = 0x80 | (code & 0x3f);
  return to;
}
