import { parseJson } from '@porthole/records';
import type { LineHead } from '../../format.ts';
import type { Zone } from '../../zone.ts';
import { BACKSLASH, isDigit, QUOTE } from '../tokens/byte-scan.ts';
import { readLevelToken, readSeverityDigit, readTimeToken } from '../tokens/value-tokens.ts';
import { type KeyKind, keyKind, LONGEST_KEY } from './known-keys.ts';

/** The longest known key; each letter may be written as `\u0074`. */
const MAX_ESCAPED_KEY = 2 + LONGEST_KEY * 6;

/**
 * Finds time and level among the members of a JSON object without parsing it: the first member with a time key and a
 * valid time, and the first with a level key and a valid level. One pass, which ends when both are found; what is then
 * missing is searched for in the objects among the members. Returns where the bytes end that decided; 0: all of them did.
 */
export function readJsonHead(bytes: Buffer, start: number, end: number, zone: Zone, found: LineHead): number {
  const objects = readMembers(bytes, start, end, zone, found, false);
  if (objects < 0) return -objects;
  if (objects > 0 && !isComplete(found)) readMembers(bytes, start, end, zone, found, true);
  return 0;
}

/**
 * Reads the members of the object at `start`, or those of the objects in it. Returns how many objects there are; negative
 * as soon as both are found: where the member ends, and what ends it.
 */
function readMembers(
  bytes: Buffer,
  start: number,
  end: number,
  zone: Zone,
  found: LineHead,
  inObjects: boolean,
): number {
  let objects = 0;
  let isGelf = false;
  let severity = 0;
  let at = skipBlank(bytes, start + 1, end);
  while (at < end && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    if (keyEnd < 0) return objects;
    const colon = skipBlank(bytes, keyEnd, end);
    if (colon >= end || bytes[colon] !== 58) return objects;
    const valueAt = skipBlank(bytes, colon + 1, end);
    const valueEnd = skipValue(bytes, valueAt, end);
    if (valueEnd < 0) return objects;
    if (bytes[valueAt] === 123) {
      objects++;
      if (inObjects) {
        readMembers(bytes, valueAt, valueEnd, zone, found, false);
        if (isComplete(found)) return objects;
      }
    } else if (!inObjects) {
      const kind = memberKind(bytes, at, keyEnd);
      if (kind === 'gelf') isGelf = true;
      else if (kind === 'priority') found.rank ||= severityRank(bytes, valueAt, valueEnd);
      else if (kind !== undefined && readMember(bytes, valueAt, valueEnd, kind, zone, found)) return -valueEnd - 1;
      else if (kind === 'level') severity ||= severityRank(bytes, valueAt, valueEnd);
    }
    const comma = skipBlank(bytes, valueEnd, end);
    if (comma >= end || bytes[comma] !== 44) break;
    at = skipBlank(bytes, comma + 1, end);
  }
  if (isGelf) found.rank ||= severity;
  return objects;
}

/** The rank of a severity from 0 to 7, as a number or a string. */
function severityRank(bytes: Buffer, start: number, end: number): number {
  const quote = bytes[start] === QUOTE ? 1 : 0;
  return readSeverityDigit(bytes, start + quote, end - quote);
}

/**
 * The kind of the key whose quotes are at `start` and before `end`. Keys with an escape are rare enough to create a
 * string.
 */
function memberKind(bytes: Buffer, start: number, end: number): KeyKind {
  const kind = keyKind(bytes, start + 1, end - 1);
  if (kind !== undefined || end - start > MAX_ESCAPED_KEY || !hasEscape(bytes, start, end)) return kind;
  const key = unescaped(bytes, start, end);
  return keyKind(key, 0, key.length);
}

/** Reads a time or level that is still missing; true when both are known. */
function readMember(
  bytes: Buffer,
  start: number,
  end: number,
  kind: 'time' | 'level',
  zone: Zone,
  found: LineHead,
): boolean {
  if (bytes[start] !== QUOTE) {
    if (!isDigit(bytes[start])) return false;
    if (readToken(bytes, start, end, kind, zone, found)) return true;
    if (!hasExponent(bytes, start, end)) return false;
    const text = Buffer.from(String(Number(bytes.toString('latin1', start, end))));
    return readToken(text, 0, text.length, kind, zone, found);
  }
  if (!hasEscape(bytes, start, end)) return readToken(bytes, start + 1, end - 1, kind, zone, found);
  const text = unescaped(bytes, start, end);
  return readToken(text, 0, text.length, kind, zone, found);
}

function readToken(
  text: Buffer,
  start: number,
  end: number,
  kind: 'time' | 'level',
  zone: Zone,
  found: LineHead,
): boolean {
  if (kind === 'level') {
    if (found.rank === 0) found.rank = readLevelToken(text, start, end);
  } else if (Number.isNaN(found.timeMs)) {
    found.timeMs = readTimeToken(text, start, end, zone);
  }
  return isComplete(found);
}

function isComplete({ timeMs, rank }: LineHead): boolean {
  return rank > 0 && !Number.isNaN(timeMs);
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

function hasExponent(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (((bytes[at] ?? 0) | 0x20) === 101) return true;
  return false;
}

function unescaped(bytes: Buffer, start: number, end: number): Buffer {
  const value = parseJson(bytes.toString('utf8', start, end));
  return value === undefined ? Buffer.alloc(0) : Buffer.from(String(value));
}

function skipBlank(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && (bytes[at] === 32 || bytes[at] === 9)) at++;
  return at;
}

/** The position after the closing quote of the string at `start`; negative if there is none. */
function skipString(bytes: Buffer, start: number, end: number): number {
  for (let at = start + 1; at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  return -1;
}

/** The position after the value at `start`, of any type; negative if it does not end. */
function skipValue(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start];
  if (start >= end) return -1;
  if (first === QUOTE) return skipString(bytes, start, end);
  if (first === 123 || first === 91) return skipNested(bytes, start, end);
  let at = start;
  while (at < end) {
    const byte = bytes[at] ?? 0;
    if (byte === 44 || byte === 125 || byte <= 32) break;
    at++;
  }
  return at > start && at < end ? at : -1;
}

function skipNested(bytes: Buffer, start: number, end: number): number {
  let depth = 0;
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipString(bytes, at, end);
      if (at < 0) return -1;
      continue;
    }
    at++;
    if (byte === 123 || byte === 91) depth++;
    else if ((byte === 125 || byte === 93) && --depth === 0) return at;
  }
  return -1;
}
