import { type ExactContext, isRestorable, parseJsonObject, readContext, splitMembers } from '../exact-context.ts';
import { type FormatOptions, MAX_HEAD_BYTES } from '../format.ts';
import { type Columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { readJsonHead } from './lines/json-head.ts';
import {
  GELF_KEYS,
  LEVEL_KEYS,
  MESSAGE_KEYS,
  NESTED_KEYS,
  PRIORITY_KEYS,
  SOURCE_KEYS,
  TAG_KEYS,
  TIME_KEYS,
} from './lines/known-keys.ts';
import { readLevelToken, readTimeToken } from './tokens/value-tokens.ts';

/** How journalctl writes a message as a list of bytes. */
export const BYTE_LIST_START = '"MESSAGE":[';

/** One JSON object per line, as zap, pino, bunyan, logrus, slog, etcd, serilog and Docker write it. */
export function createJsonFormat({ zone }: FormatOptions): ShapedFormat {
  const isTime = (text: Buffer) => !Number.isNaN(readTimeToken(text, 0, text.length, zone));
  const isLevel = (text: Buffer) => readLevelToken(text, 0, text.length) > 0;
  return defineFormat({
    name: 'json',
    maxHeadBytes: MAX_HEAD_BYTES,
    readStart(bytes, start, end, found) {
      if (start >= end || bytes[start] !== 123) return false;
      readJsonHead(bytes, start, end, zone, found);
      return true;
    },
    readColumns(body) {
      const members = readMembers(body);
      if (!members) return undefined;
      takeFirst(members, TIME_KEYS, ({ token }) => token !== undefined && isTime(Buffer.from(token)));
      takeLevel(members, isLevel);
      return toColumns(members, body);
    },
  });
}

/** Takes the member that `readJsonHead` has read the level from. */
function takeLevel(members: Member[], isLevel: (text: Buffer) => boolean): void {
  const isSeverity = ({ token = '' }: Member) => /^[0-7]$/.test(token);
  const hasLevel = ({ token }: Member) => token !== undefined && isLevel(Buffer.from(token));
  if (takeFirst(members, LEVEL_KEYS, hasLevel) || takeFirst(members, PRIORITY_KEYS, isSeverity)) return;
  if (members.some(({ key }) => GELF_KEYS.includes(key.toLowerCase()))) takeFirst(members, LEVEL_KEYS, isSeverity);
}

interface Member {
  key: string;
  value: unknown;
  /** As written in the log; only if the value would not serialize to it. */
  text?: string;
  valueText?: string;
  /** A string, or a number as parsed for time and level. */
  token: string | undefined;
}

/**
 * In the order of the line; `undefined` if it is not a JSON object. Only lines that a parser would alter are split by
 * hand.
 */
function readMembers(line: string): Member[] | undefined {
  const object = parseJsonObject(line);
  if (!object) return undefined;
  if (isRestorable(line, object))
    return Object.entries(object).map(([key, value]) => ({ key, value, token: toToken(value) }));
  return splitMembers(line).map(({ key, text, valueText }) => {
    const value: unknown = JSON.parse(valueText);
    if (isRestorable(valueText, value)) return { key, value, text, token: toToken(value) };
    return { key, value, text, valueText, token: toToken(value) };
  });
}

function toToken(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function toColumns(members: Member[], line: string): Columns {
  const message = takeMessage(members, line) ?? nestedMessage(members) ?? '';
  const source = takeFirst(members, SOURCE_KEYS, (member) => toSource(member) !== undefined);
  const tags: string[] = [];
  for (const key of TAG_KEYS) {
    const tag = takeFirst(members, [key], ({ value }) => typeof value === 'string' && value !== '')?.value;
    if (typeof tag === 'string') tags.push(tag);
  }
  return {
    ...(source && { source: toSource(source) ?? '' }),
    ...(tags.length > 0 && { tags }),
    message,
    ...(members.length > 0 && toContext(members)),
  };
}

/** The remaining members. Built from entries, so that `__proto__` is a key like any other. */
function toContext(members: Member[]): ExactContext {
  if (members.some(({ text }) => text === undefined))
    return { context: Object.fromEntries(members.map(({ key, value }) => [key, value])) };
  const text = `{${members.map((member) => member.text).join(',')}}`;
  return readContext(text) ?? { context: {}, contextText: text };
}

/** The best of the members that can be the message: `log` holds the line in Docker's files, but an object elsewhere. */
function takeMessage(members: Member[], line: string): string | undefined {
  for (const key of MESSAGE_KEYS) {
    const text = takeFirst(members, [key], ({ value }) => typeof value === 'string')?.value;
    // Docker includes the line's newline.
    if (typeof text === 'string') return text.replace(/\r?\n$/, '');
  }
  const other = takeFirst(members, ['msg', 'message'], () => true);
  if (other === undefined) return undefined;
  return line.includes(BYTE_LIST_START) && isByteList(other.value)
    ? Buffer.from(other.value).toString()
    : (other.valueText ?? JSON.stringify(other.value));
}

/** A message that is not printable UTF-8. Searches for fields rely on this very text to find such records. */
function isByteList(value: unknown): value is number[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((item) => Number.isInteger(item) && item >= 0 && item < 256)
  );
}

/** The message among the members of an object that stands for the record; it stays in the context. */
function nestedMessage(members: readonly Member[]): string | undefined {
  for (const { key, value } of members) {
    if (!NESTED_KEYS.includes(key) || typeof value !== 'object' || value === null) continue;
    for (const name of MESSAGE_KEYS) {
      const text = Object.getOwnPropertyDescriptor(value, name)?.value as unknown;
      if (typeof text === 'string') return text;
    }
  }
  return undefined;
}

/** Takes the first member that has one of the names, in any case, and a suitable value. */
function takeFirst(members: Member[], names: string[], fits: (member: Member) => boolean): Member | undefined {
  const index = members.findIndex(
    (member) => (names.includes(member.key) || names.includes(member.key.toLowerCase())) && fits(member),
  );
  return index < 0 ? undefined : members.splice(index, 1)[0];
}

/** `file:line`, or slog's `{function, file, line}`, unless a number in it would be displayed differently. */
function toSource({ value, valueText }: Member): string | undefined {
  if (typeof value === 'string') return /:\d+$/.test(value) ? value : undefined;
  if (typeof value !== 'object' || value === null || valueText !== undefined) return undefined;
  const { file, line } = value as { file?: unknown; line?: unknown };
  return typeof file === 'string' && typeof line === 'number' ? `${file}:${line}` : undefined;
}
