import { SPACE, skipSpaces, TAB } from '../tokens/byte-scan.ts';
import type { LineWrapper } from './line-wrapper.ts';

/** A file in which every line is indented: then indentation does not show that a line continues a record. */
export function createIndentedWrapper(): LineWrapper {
  return {
    name: 'indented',
    timed: false,
    minShare: 1,
    minLines: 3,
    examinedLines: Number.POSITIVE_INFINITY,
    isTypical: (bytes, start) => bytes[start] === SPACE || bytes[start] === TAB,
    readInner(bytes, start, end, inner) {
      inner.bytes = bytes;
      inner.start = skipSpaces(bytes, start, end);
      inner.end = end;
      return true;
    },
    readTime: () => Number.NaN,
    unwrap: (bytes, start, end) => bytes.subarray(skipSpaces(bytes, start, end), end),
    readContext: () => [],
  };
}
