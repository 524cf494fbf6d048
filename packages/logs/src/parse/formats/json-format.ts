import type { FormatOptions } from '../format.ts';
import { type Columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { readJsonHead } from './json-head.ts';
import { LEVEL_KEYS, MESSAGE_KEYS, SOURCE_KEYS, TAG_KEYS, TIME_KEYS } from './known-keys.ts';
import { readLevelToken, timeOfToken } from './value-tokens.ts';

/** Time and level may stand behind a stack or a request's body; further away they are not looked for. */
const MAX_HEAD_BYTES = 64 * 1024;

/** One JSON object per line, as zap, pino, bunyan, logrus, slog, etcd, serilog and Docker write it. */
export function createJsonFormat({ zone }: FormatOptions): ShapedFormat {
  const isTime = (text: Buffer) => !Number.isNaN(timeOfToken(text, 0, text.length, zone));
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
      const members = parseObject(body);
      if (!members) return undefined;
      takeFirst(members, TIME_KEYS, (value) => isScalar(value) && isTime(Buffer.from(String(value))));
      takeFirst(members, LEVEL_KEYS, (value) => isScalar(value) && isLevel(Buffer.from(String(value))));
      return columnsOf(members);
    },
  });
}

type Members = Map<string, unknown>;

function parseObject(text: string): Members | undefined {
  try {
    return new Map(Object.entries(JSON.parse(text) as object));
  } catch {
    return undefined;
  }
}

function columnsOf(members: Members): Columns {
  const message = takeMessage(members);
  const source = takeFirst(members, SOURCE_KEYS, (value) => sourceOf(value) !== undefined);
  const tags: string[] = [];
  for (const key of TAG_KEYS) {
    const tag = takeFirst(members, [key], (value) => typeof value === 'string' && value !== '');
    if (typeof tag === 'string') tags.push(tag);
  }
  return {
    ...(source !== undefined && { source: sourceOf(source) ?? '' }),
    ...(tags.length > 0 && { tags }),
    message,
    // Made of entries, a key `__proto__` is a key like any other.
    ...(members.size > 0 && { context: Object.fromEntries(members) }),
  };
}

/** The best of the members that can be one: `log` holds the line in Docker's files, but an object elsewhere. */
function takeMessage(members: Members): string {
  for (const key of MESSAGE_KEYS) {
    const text = takeFirst(members, [key], (value) => typeof value === 'string');
    // Docker keeps the line's newline.
    if (typeof text === 'string') return text.replace(/\r?\n$/, '');
  }
  const other = takeFirst(members, ['msg', 'message'], () => true);
  return other === undefined ? '' : JSON.stringify(other);
}

/** Takes the first member that has one of the names, in any case, and a fitting value. */
function takeFirst(members: Members, names: string[], fits: (value: unknown) => boolean): unknown {
  for (const [key, value] of members) {
    if (!names.includes(key) && !names.includes(key.toLowerCase())) continue;
    if (!fits(value)) continue;
    members.delete(key);
    return value;
  }
  return undefined;
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** `file:line`, or slog's `{function, file, line}`. */
function sourceOf(value: unknown): string | undefined {
  if (typeof value === 'string') return /:\d+$/.test(value) ? value : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const { file, line } = value as { file?: unknown; line?: unknown };
  return typeof file === 'string' && typeof line === 'number' ? `${file}:${line}` : undefined;
}
