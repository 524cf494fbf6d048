import type { FormatOptions } from '../format.ts';
import { type Columns, columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { CLOSE_BRACKET, OPEN_BRACKET, skipLetters, startsWith } from './tokens/byte-scan.ts';
import { readIsoTime } from './tokens/iso-time.ts';
import { readLevelWord } from './tokens/level-word.ts';
import { unquote } from './tokens/value-tokens.ts';

const LEVEL = /^ \[[A-Za-z]+\]/;

/** ` [key]` or ` [key=value]`, each part bare or quoted. */
const FIELD = / \[("[^"\\]*(?:\\.[^"\\]*)*"|[^\]="]*)(?:=("[^"\\]*(?:\\.[^"\\]*)*"|[^\]]*))?\]/sy;

/** TiDB, TiKV and PD: `[2024/08/16 09:48:23.118 +08:00] [INFO] [server.go:123] ["message"] [key="a value"]`. */
export function createTidbFormat({ zone }: FormatOptions): ShapedFormat {
  const time = { timeMs: 0, end: 0 };
  return defineFormat({
    name: 'tidb',
    readStart(bytes, start, end, found) {
      if (start >= end || bytes[start] !== OPEN_BRACKET || !readIsoTime(bytes, start + 1, end, zone, time))
        return false;
      if (time.end >= end || bytes[time.end] !== CLOSE_BRACKET) return false;
      found.timeMs = time.timeMs;
      found.bodyAt = time.end + 1;
      if (!startsWith(bytes, found.bodyAt, end, ' [')) return true;
      const wordEnd = skipLetters(bytes, found.bodyAt + 2, end);
      if (wordEnd < end && bytes[wordEnd] === CLOSE_BRACKET)
        found.rank = readLevelWord(bytes, found.bodyAt + 2, wordEnd);
      return true;
    },
    readColumns: (body) => {
      const level = LEVEL.exec(body)?.[0];
      return level === undefined ? undefined : readFields(body, level.length);
    },
  });
}

/** Source and message, then fields as long as they are well-formed; the rest stays in the message. */
function readFields(body: string, start: number): Columns | undefined {
  const fields = new RegExp(FIELD);
  fields.lastIndex = start;
  const first = fields.exec(body);
  // If the source was omitted, the message comes first: a source is neither quoted nor a pair.
  const hasSource = first?.[2] === undefined && !first?.[1]?.startsWith('"');
  const text = hasSource ? fields.exec(body) : first;
  if (!first || !text) return undefined;
  const source = hasSource && first[1] !== '<unknown>' ? first[1] : undefined;
  const context: [string, unknown][] = [];
  let end = fields.lastIndex;
  for (let field = fields.exec(body); field; field = fields.exec(body)) {
    context.push([unquote(field[1] ?? ''), unquote(field[2] ?? '')]);
    end = fields.lastIndex;
  }
  const message = text[2] === undefined ? unquote(text[1] ?? '') : text[0].slice(2, -1);
  return columns(message + body.slice(end), {
    ...(source && { source }),
    context,
  });
}
