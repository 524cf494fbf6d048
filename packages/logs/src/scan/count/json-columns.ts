import type { ScanKernel } from '../../kernel/scan-kernel.ts';
import { SOURCE_KEYS, TAG_KEYS } from '../../parse/formats/lines/known-keys.ts';

const COLON = 58;

/** Numbers per member. */
const STEP = 3;

/** What the value of a member is, as the kernel has it: a text without escapes, or something else. */
const PLAIN_TEXT = 0;
const ESCAPED_TEXT = 1;
const OBJECT = 2;

/**
 * Finds a column of records in JSON without decoding them, in the kernel's text: a member of their object that has one of
 * some names, in any case. Everything is validated on the way, because text that is no JSON has no columns.
 */
export interface JsonColumnReader {
  /** Where the last one that was found is, without its quotes. */
  start: number;
  end: number;
  /** Whether the record `[start, end)` has one; `undefined` if it must be decoded. */
  find(bytes: Buffer, start: number, end: number): boolean | undefined;
}

/** The first text that ends in the number of a line. */
export function jsonSources(kernel: ScanKernel): JsonColumnReader {
  const read = memberReader(kernel, SOURCE_KEYS);
  const { members } = kernel;
  return {
    start: 0,
    end: 0,
    find(bytes, start, end) {
      const count = read(start, end);
      if (count < 0) return undefined;
      for (let at = 0; at < count * STEP; at += STEP) {
        const kind = members[at + 2];
        if (kind === OBJECT || kind === ESCAPED_TEXT) return undefined;
        if (kind !== PLAIN_TEXT) continue;
        this.start = members[at] ?? 0;
        this.end = members[at + 1] ?? 0;
        if (endsInLine(bytes, this.start, this.end)) return true;
      }
      return false;
    },
  };
}

/** The only text: records with more tags are decoded. */
export function jsonTags(kernel: ScanKernel): JsonColumnReader {
  const read = memberReader(kernel, TAG_KEYS);
  const { members } = kernel;
  return {
    start: 0,
    end: 0,
    find(_bytes, start, end) {
      const count = read(start, end);
      if (count < 0) return undefined;
      let isFound = false;
      for (let at = 0; at < count * STEP; at += STEP) {
        const [from = 0, to = 0, kind] = [members[at], members[at + 1], members[at + 2]];
        if (kind === ESCAPED_TEXT || (isFound && kind === PLAIN_TEXT && to > from)) return undefined;
        if (kind !== PLAIN_TEXT || to === from) continue;
        isFound = true;
        this.start = from;
        this.end = to;
      }
      return isFound;
    },
  };
}

/**
 * Returns what finds the members with these names, in lower case and shorter than 32 bytes, in a line, as `jsonMembers`
 * does.
 */
function memberReader(kernel: ScanKernel, names: readonly string[]): (start: number, end: number) => number {
  const lengths = names.reduce((bits, name) => bits | (1 << name.length), 0);
  const listed = Buffer.from(`${names.map((name) => String.fromCharCode(name.length) + name).join('')}\0`);
  return (start, end) => {
    kernel.setPath(listed);
    return kernel.jsonMembers(start, end, lengths);
  };
}

/** Whether the text ends in a colon and the number of a line. */
function endsInLine(bytes: Buffer, start: number, end: number): boolean {
  let at = end - 1;
  while (at >= start && isDigit(bytes[at] ?? 0)) at--;
  return at >= start && at < end - 1 && bytes[at] === COLON;
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57;
}
