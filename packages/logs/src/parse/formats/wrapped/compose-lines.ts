import { isDigit, isLetter, skipSpaces } from '../tokens/byte-scan.ts';
import type { LineWrapper } from './line-wrapper.ts';

/** Longer names are rare, and the name is searched for on every line. */
const MAX_NAME_BYTES = 128;

const BAR = 124;
const DASH = 45;
const UNDERSCORE = 95;

/** `docker compose logs`: `web-1  | text`, with the name of the container. */
export function createComposeWrapper(): LineWrapper {
  return {
    name: 'compose',
    timed: false,
    minShare: 0.5,
    minLines: 1,
    examinedLines: 32,
    isTypical: (bytes, start, end) => findText(bytes, start, end) >= 0,
    readInner(bytes, start, end, inner) {
      const textAt = findText(bytes, start, end);
      if (textAt < 0) return false;
      inner.bytes = bytes;
      inner.start = textAt;
      inner.end = end;
      return true;
    },
    readTime: () => Number.NaN,
    unwrap(bytes, start, end) {
      const textAt = findText(bytes, start, end);
      return textAt < 0 ? undefined : bytes.subarray(textAt, end);
    },
    readContext(bytes, start, end) {
      if (findText(bytes, start, end) < 0) return [];
      return [['container', bytes.toString('utf8', start, nameEnd(bytes, start, end))]];
    },
  };
}

/** Where the text behind the bar starts; negative if the line has another layout. */
function findText(bytes: Buffer, start: number, end: number): number {
  const nameTo = nameEnd(bytes, start, end);
  // `web-1`, or `web_1` as older versions write it.
  let numberAt = nameTo;
  while (numberAt > start && isDigit(bytes[numberAt - 1])) numberAt--;
  const separator = numberAt > start ? bytes[numberAt - 1] : undefined;
  if (numberAt === nameTo || (separator !== DASH && separator !== UNDERSCORE) || !isLetter(bytes[start])) return -1;
  const bar = skipSpaces(bytes, nameTo, end);
  if (bar === nameTo || bar >= end || bytes[bar] !== BAR) return -1;
  return Math.min(end, bar + 2);
}

function nameEnd(bytes: Buffer, start: number, end: number): number {
  const limit = Math.min(end, start + MAX_NAME_BYTES);
  let at = start;
  while (at < limit && isNameByte(bytes[at])) at++;
  return at;
}

function isNameByte(byte: number | undefined): boolean {
  return isLetter(byte) || isDigit(byte) || byte === DASH || byte === UNDERSCORE || byte === 46;
}
