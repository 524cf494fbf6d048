import { parseJsonObject } from '../../exact-context.ts';
import type { WrapperName } from '../../format.ts';
import { readLevelWord } from '../../level.ts';
import type { Zone } from '../../zone.ts';
import { trimLineEnd } from '../define-format.ts';
import {
  BACKSLASH,
  COLON,
  isDigit,
  isLetter,
  QUOTE,
  SPACE,
  skipLetters,
  skipSpaces,
  skipWord,
  startsWith,
  TAB,
} from '../tokens/byte-scan.ts';
import { readTimeToken } from '../tokens/value-tokens.ts';
import { unescapeText } from './json-text.ts';

/** The text inside a line, up to its first newline. One object is reused. */
export interface InnerLine {
  bytes: Buffer;
  start: number;
  end: number;
}

/** What puts something around each line of another format. Of one file: it reuses its buffers. */
export interface LineWrapper {
  readonly name: WrapperName;
  /** Whether it has times. */
  readonly timed: boolean;
  /** Of so many lines at the start of a file, blank ones left out, at least this share and this many must be wrapped. */
  readonly examinedLines: number;
  readonly minShare: number;
  readonly minLines: number;
  /** Whether the line, without its CR and LF, shows that the file is wrapped. May create strings. */
  isTypical(bytes: Buffer, start: number, end: number): boolean;
  /** Finds the inner line of `[start, end)`, without its CR and LF; false if it is not wrapped. Creates no strings. */
  readInner(bytes: Buffer, start: number, end: number, inner: InnerLine): boolean;
  /** The time of the wrapper; `NaN` if there is none. */
  readTime(bytes: Buffer, start: number, end: number): number;
  /**
   * The inner text of the line `[start, end)`, which includes its CR and LF, with a newline unless the next line
   * continues it; `undefined` if it is not wrapped.
   */
  unwrap(bytes: Buffer, start: number, end: number): Buffer | undefined;
  /** What the wrapper says about the line, for the context of its record. */
  readContext(bytes: Buffer, start: number, end: number): readonly (readonly [string, unknown])[];
}

/** A buffer that grows as needed and is used again for every line. */
class Scratch {
  #buffer = Buffer.alloc(0);

  ofSize(bytes: number): Buffer {
    if (this.#buffer.length < bytes) this.#buffer = Buffer.alloc(Math.max(bytes, 2 * this.#buffer.length));
    return this.#buffer;
  }
}

const LEAD = '{"log":"';
const TIME_KEY = '"time":';

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

/** From seconds without a fraction to nanoseconds with an offset, and its quotes. */
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
