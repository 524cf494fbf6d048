import type { Zone } from '../../zone.ts';
import { trimLineEnd } from '../define-format.ts';
import { COLON, SPACE, skipWord, startsWith } from '../tokens/byte-scan.ts';
import { readTimeToken } from '../tokens/value-tokens.ts';
import type { LineWrapper } from './line-wrapper.ts';

/** From seconds without a fraction to nanoseconds with an offset. */
const SHORTEST_TIME = 20;
const LONGEST_TIME = 40;

/** Both names of streams have this many letters. */
const STREAM_BYTES = 6;

const LETTER_F = 70;
const LETTER_P = 80;
const NEWLINE = Buffer.from('\n');

/**
 * What container runtimes write for Kubernetes: `2026-11-15T10:00:00.123456789Z stdout F text`. Parts of a long line
 * have `P` instead of `F`, except for the last.
 */
export function createCriWrapper(zone: Zone): LineWrapper {
  const timeEnd = (bytes: Buffer, start: number, end: number) =>
    skipWord(bytes, start, Math.min(end, start + LONGEST_TIME));

  /** The position of the tag; negative if the line has another layout. */
  const findTag = (bytes: Buffer, start: number, end: number): number => {
    const streamAt = timeEnd(bytes, start, end) + 1;
    if (streamAt <= start + SHORTEST_TIME || streamAt > end || bytes[start + 10] !== 84) return -1;
    if (!startsWith(bytes, streamAt, end, 'stdout ') && !startsWith(bytes, streamAt, end, 'stderr ')) return -1;
    const tagAt = streamAt + STREAM_BYTES + 1;
    if (tagAt >= end || (bytes[tagAt] !== LETTER_F && bytes[tagAt] !== LETTER_P)) return -1;
    const next = bytes[tagAt + 1];
    return tagAt + 1 === end || next === SPACE || next === COLON ? tagAt : -1;
  };
  /** Where the text behind the tag starts. */
  const textAt = (bytes: Buffer, tagAt: number, end: number) => Math.min(end, skipWord(bytes, tagAt, end) + 1);
  const readTime = (bytes: Buffer, start: number, end: number) =>
    readTimeToken(bytes, start, timeEnd(bytes, start, end), zone);

  return {
    name: 'cri',
    timed: true,
    minShare: 0.5,
    minLines: 1,
    examinedLines: 32,
    isTypical: (bytes, start, end) => findTag(bytes, start, end) >= 0 && !Number.isNaN(readTime(bytes, start, end)),
    readInner(bytes, start, end, inner) {
      const tagAt = findTag(bytes, start, end);
      if (tagAt < 0) return false;
      inner.bytes = bytes;
      inner.start = textAt(bytes, tagAt, end);
      inner.end = end;
      return true;
    },
    readTime,
    unwrap(bytes, start, end) {
      const lineEnd = trimLineEnd(bytes, start, end);
      const tagAt = findTag(bytes, start, lineEnd);
      if (tagAt < 0) return undefined;
      const text = bytes.subarray(textAt(bytes, tagAt, lineEnd), lineEnd);
      return bytes[tagAt] === LETTER_P ? text : Buffer.concat([text, NEWLINE]);
    },
    readContext(bytes, start, end) {
      const tagAt = findTag(bytes, start, trimLineEnd(bytes, start, end));
      return tagAt < 0 ? [] : [['stream', bytes.toString('latin1', tagAt - 1 - STREAM_BYTES, tagAt - 1)]];
    },
  };
}
