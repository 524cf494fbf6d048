import type { Zone } from '../../zone.ts';
import { type Columns, columns, type LineStart } from '../define-format.ts';
import { BACKSLASH, QUOTE, SPACE } from '../tokens/byte-scan.ts';
import { readLevelToken, readTimeToken, unquote } from '../tokens/value-tokens.ts';
import { keyKind, LEVEL_KEYS, MESSAGE_KEYS, SOURCE_KEYS, TAG_KEYS, TIME_KEYS } from './known-keys.ts';

const PAIR = / *([\w.@/-]+)=("[^"\\]*(?:\\.[^"\\]*)*"|[^\s"]*)(?= |$)/sy;

/** 1 for each byte that may occur in a key. */
const KEY_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => (/[\w.@/-]/.test(String.fromCharCode(byte)) ? 1 : 0));

/** `ts=2024-08-16T09:48:23.118Z lvl=info msg="a message"`: starts a record if one of the pairs is a time. */
export function readLogfmtStart(bytes: Buffer, start: number, end: number, zone: Zone, found: LineStart): boolean {
  let at = start;
  while (at < end) {
    const equals = skipKey(bytes, at, end);
    if (equals === at || equals >= end || bytes[equals] !== 61) break;
    const quoted = equals + 1 < end && bytes[equals + 1] === QUOTE;
    const valueAt = quoted ? equals + 2 : equals + 1;
    const valueEnd = skipValue(bytes, valueAt, end, quoted);
    const kind = keyKind(bytes, at, equals);
    if (kind === 'time' && Number.isNaN(found.timeMs)) found.timeMs = readTimeToken(bytes, valueAt, valueEnd, zone);
    if (kind === 'level' && found.rank === 0) found.rank = readLevelToken(bytes, valueAt, valueEnd);
    if (found.rank > 0 && !Number.isNaN(found.timeMs)) break;
    at = quoted ? valueEnd + 1 : valueEnd;
    while (at < end && bytes[at] === SPACE) at++;
  }
  return !Number.isNaN(found.timeMs);
}

function skipKey(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && KEY_BYTES[bytes[at] ?? 0] === 1) at++;
  return at;
}

function skipValue(bytes: Buffer, start: number, end: number, quoted: boolean): number {
  const stop = quoted ? QUOTE : SPACE;
  let at = start;
  for (; at < end && bytes[at] !== stop; at++) if (quoted && bytes[at] === BACKSLASH) at++;
  return Math.min(at, end);
}

/** The pairs as columns; what is not a pair is appended to the message. */
export function readLogfmtColumns(body: string, zone: Zone): Columns | undefined {
  const pair = new RegExp(PAIR);
  const pairs: [string, string][] = [];
  let end = 0;
  for (let match = pair.exec(body); match; match = pair.exec(body)) {
    pairs.push([match[1] ?? '', unquote(match[2] ?? '')]);
    end = pair.lastIndex;
  }
  if (pairs.length === 0) return undefined;
  const take = (names: string[], fits = (_: string) => true) => {
    const index = pairs.findIndex(([name, value]) => names.includes(name) && fits(value));
    return index < 0 ? undefined : pairs.splice(index, 1)[0]?.[1];
  };
  const asToken = (value: string) => Buffer.from(value);
  take(TIME_KEYS, (value) => !Number.isNaN(readTimeToken(asToken(value), 0, Buffer.byteLength(value), zone)));
  take(LEVEL_KEYS, (value) => readLevelToken(asToken(value), 0, Buffer.byteLength(value)) > 0);
  const message = [take(MESSAGE_KEYS), body.slice(end).trim()].filter(Boolean).join(' ');
  const source = take(SOURCE_KEYS, (value) => /:\d+$/.test(value));
  const tag = take(TAG_KEYS);
  return columns(message, { ...(source && { source }), ...(tag && { tag }), context: pairs });
}
