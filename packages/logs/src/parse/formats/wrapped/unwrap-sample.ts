import { trimLineEnd } from '../define-format.ts';
import { sampleLineEnd } from '../sample-lines.ts';
import { skipSpaces } from '../tokens/byte-scan.ts';
import type { LineWrapper } from './line-wrapper.ts';
import { unwrapText } from './wrapped-format.ts';

/** The text inside the lines of a sample; `undefined` if too few are wrapped. */
export function unwrapSample(wrapper: LineWrapper, bytes: Buffer): Buffer | undefined {
  let lines = 0;
  let wrapped = 0;
  for (let start = 0, end = sampleLineEnd(bytes, 0); end >= 0; start = end, end = sampleLineEnd(bytes, start)) {
    const lineEnd = trimLineEnd(bytes, start, end);
    if (skipSpaces(bytes, start, lineEnd) === lineEnd) continue;
    if (lines >= wrapper.examinedLines) break;
    lines++;
    if (wrapper.isTypical(bytes, start, lineEnd)) wrapped++;
    else if (wrapper.minShare === 1) return undefined;
  }
  if (wrapped < wrapper.minLines || wrapped < lines * wrapper.minShare) return undefined;
  return unwrapText(wrapper, bytes.subarray(0, bytes.lastIndexOf(10) + 1 || bytes.length));
}
