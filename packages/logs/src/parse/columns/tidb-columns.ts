import { type Columns, columns } from '../formats/define-format.ts';
import { unquote } from '../formats/tokens/value-tokens.ts';

const LEVEL = /^ \[[A-Za-z]+\]/;

/** ` [key]` or ` [key=value]`, each part bare or quoted. */
const FIELD = / \[("[^"\\]*(?:\\.[^"\\]*)*"|[^\]="]*)(?:=("[^"\\]*(?:\\.[^"\\]*)*"|[^\]]*))?\]/sy;

/** TiDB, TiKV and PD: `[2024/08/16 09:48:23.118 +08:00] [INFO] [server.go:123] ["message"] [key="a value"]`. */
export function readTidbColumns(body: string, lead: string): Columns | undefined {
  const level = lead.startsWith('[') ? LEVEL.exec(body)?.[0] : undefined;
  return level === undefined ? undefined : readFields(body, level.length);
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
