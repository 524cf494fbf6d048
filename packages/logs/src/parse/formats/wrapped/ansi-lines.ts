import { skipLetters, skipSpaces } from '../tokens/byte-scan.ts';
import { readLevelWord } from '../tokens/level-word.ts';
import { type LineWrapper, Scratch } from './line-wrapper.ts';

const ESCAPE = 27;
const OPEN_BRACKET = 91;

/** Colours and other styles, as programs write them to terminals: `\u001b[32m INFO\u001b[0m text`. */
export function createAnsiWrapper(): LineWrapper {
  const scratch = new Scratch();
  return {
    name: 'ansi',
    timed: false,
    // Some programs colour only the levels of errors.
    minShare: 0.1,
    minLines: 1,
    examinedLines: 32,
    isTypical: hidesHead,
    readInner(bytes, start, end, inner) {
      const styleAt = findStyle(bytes, start, end);
      inner.bytes = styleAt < end ? scratch.ofSize(end - start) : bytes;
      inner.start = styleAt < end ? 0 : start;
      inner.end = styleAt < end ? copyPlain(bytes, start, end, inner.bytes) : end;
      return true;
    },
    readTime: () => Number.NaN,
    unwrap(bytes, start, end) {
      const plain = Buffer.allocUnsafe(end - start);
      return plain.subarray(0, copyPlain(bytes, start, end, plain));
    },
    readContext: () => [],
  };
}

/**
 * Whether a style hides time or level: it is at the start of the line or in front of a level. Others belong to the message,
 * and consoles show them.
 */
function hidesHead(bytes: Buffer, start: number, end: number): boolean {
  let at = findStyle(bytes, start, end);
  if (at < end && at === skipSpaces(bytes, start, end)) return true;
  for (; at < end; at = findStyle(bytes, at, end)) {
    at = styleEnd(bytes, at, end);
    const wordAt = skipSpaces(bytes, at, end);
    if (readLevelWord(bytes, wordAt, skipLetters(bytes, wordAt, end)) > 0) return true;
  }
  return false;
}

/** The position of the first style; `end` if there is none. */
function findStyle(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && !(bytes[at] === ESCAPE && at + 1 < end && bytes[at + 1] === OPEN_BRACKET)) at++;
  return at;
}

/** Copies all but the styles; returns the bytes written. */
function copyPlain(bytes: Buffer, start: number, end: number, target: Buffer): number {
  let to = 0;
  for (let at = start; at < end; ) {
    const styleAt = findStyle(bytes, at, end);
    to += bytes.copy(target, to, at, styleAt);
    at = styleEnd(bytes, styleAt, end);
  }
  return to;
}

/** Parameters and intermediate bytes, then one final byte; a newline ends it in any case. */
function styleEnd(bytes: Buffer, start: number, end: number): number {
  let at = Math.min(end, start + 2);
  while (at < end && (bytes[at] ?? 0) >= 0x20 && (bytes[at] ?? 0) <= 0x3f) at++;
  const isFinal = at < end && (bytes[at] ?? 0) >= 0x40 && (bytes[at] ?? 0) <= 0x7e;
  return isFinal ? at + 1 : at;
}
