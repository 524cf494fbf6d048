import { parseJsonObject } from '../../exact-context.ts';
import type { Zone } from '../../zone.ts';
import { trimLineEnd } from '../define-format.ts';
import { BACKSLASH, QUOTE, startsWith } from '../tokens/byte-scan.ts';
import { readTimeToken } from '../tokens/value-tokens.ts';
import { unescapeText } from './json-text.ts';
import { type LineWrapper, Scratch } from './line-wrapper.ts';

const LEAD = '{"log":"';
const TIME_KEY = '"time":';

/** A time in nanoseconds with an offset, and its quotes. */
const LONGEST_TIME = 40;

const LETTER_N = 110;

/**
 * Docker's json-file: `{"log":"text\n","stream":"stdout","time":"…"}`. Lines of more than 16 KiB are split: all parts
 * but the last have no newline.
 */
export function createDockerWrapper(zone: Zone): LineWrapper {
  const scratch = new Scratch();
  return {
    name: 'docker',
    timed: true,
    minShare: 0.5,
    minLines: 1,
    examinedLines: 32,
    isTypical(bytes, start, end) {
      if (!startsWith(bytes, start, end, LEAD)) return false;
      const members = parseJsonObject(bytes.toString('utf8', start, end));
      return typeof members?.log === 'string' && typeof members.stream === 'string' && typeof members.time === 'string';
    },
    readInner(bytes, start, end, inner) {
      if (!startsWith(bytes, start, end, LEAD)) return false;
      const from = start + LEAD.length;
      let at = from;
      while (at < end && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++;
      // Most lines have no escape but their newline: they are read where they are.
      const isPlain = at + 1 >= end || bytes[at] === QUOTE || bytes[at + 1] === LETTER_N;
      inner.bytes = isPlain ? bytes : scratch.ofSize(end - from);
      inner.start = isPlain ? from : 0;
      inner.end = isPlain ? at : unescapeText(bytes, from, end, { target: inner.bytes, firstLineOnly: true });
      return true;
    },
    readTime(bytes, start, end) {
      // It is always the last member.
      if (bytes[end - 1] !== 125 || bytes[end - 2] !== QUOTE) return Number.NaN;
      const least = Math.max(start + TIME_KEY.length, end - LONGEST_TIME);
      let at = end - 3;
      while (at > least && bytes[at] !== QUOTE) at--;
      if (at < least || !startsWith(bytes, at - TIME_KEY.length, at, TIME_KEY)) return Number.NaN;
      return readTimeToken(bytes, at + 1, end - 2, zone);
    },
    unwrap(bytes, start, end) {
      if (!startsWith(bytes, start, end, LEAD)) return undefined;
      const from = start + LEAD.length;
      const target = Buffer.allocUnsafe(end - from);
      return target.subarray(0, unescapeText(bytes, from, end, { target }));
    },
    readContext(bytes, start, end) {
      const members = parseJsonObject(bytes.toString('utf8', start, trimLineEnd(bytes, start, end)));
      return Object.entries(members ?? {}).filter(([key]) => key !== 'log' && key !== 'time');
    },
  };
}
