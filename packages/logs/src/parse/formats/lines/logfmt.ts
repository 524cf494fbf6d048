import type { Zone } from '../../zone.ts';
import { type Columns, columns } from '../define-format.ts';
import { readLevelToken, readTimeToken, unquote } from '../tokens/value-tokens.ts';
import { LEVEL_KEYS, MESSAGE_KEYS, SOURCE_KEYS, TAG_KEYS, TIME_KEYS } from './known-keys.ts';

const PAIR = / *([\w.@/-]+)=("[^"\\]*(?:\\.[^"\\]*)*"|[^\s"]*)(?= |$)/sy;

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
