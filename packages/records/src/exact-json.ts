/*
 * JSON of records. A parser rounds large numbers, drops the first of two equal keys and sorts numeric ones, so a record
 * whose context would not survive that carries the text of the log (`contextText`). It is written in place of the
 * object: whatever reads the JSON, `jq` or a program in another language, sees what is in the log.
 */

/** Strings, punctuation, and everything else up to the next of these. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

interface WithContext {
  context?: Record<string, unknown> | undefined;
  contextText?: string | undefined;
}

/** The context as JSON text, as in the log; `undefined` if the record has none. */
export function contextJson({ context, contextText }: WithContext): string | undefined {
  return contextText ?? (context && JSON.stringify(context));
}

/** Like `JSON.stringify`, but the contexts of records in the value, however deep, are written as in the log. */
export function exactJson(value: object): string {
  const text = JSON.stringify(value);
  // Inside strings the quotes would be escaped: without this text there is no such field.
  return text.includes('"contextText":"') ? writeExact(value) : text;
}

function writeExact(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((element) => writeExact(element ?? null)).join(',')}]`;
  const { type, contextText } = value as WithContext & { type?: unknown };
  const exact = type === 'record' && isObjectText(contextText) ? contextText : undefined;
  const members = Object.entries(value).flatMap(([key, member]: [string, unknown]) => {
    if (member === undefined) return [];
    // A context is the log's own data: nothing in it is a record.
    if (key !== 'context') return [`${JSON.stringify(key)}:${writeExact(member)}`];
    return [`"context":${exact ?? JSON.stringify(member)}`];
  });
  return `{${members.join(',')}}`;
}

/** Whether it is one line of JSON, an object: text of another node must not break the JSON it is inserted into. */
export function isObjectText(text: unknown): text is string {
  if (typeof text !== 'string' || !text.startsWith('{') || /[\r\n]/.test(text)) return false;
  return parseJson(text) !== undefined;
}

/** Parses a text of JSON; `undefined` if it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Valid JSON over several lines, indented as by `JSON.stringify`; numbers and strings are unchanged. */
export function indentJson(text: string): string {
  let written = '';
  let depth = 0;
  let previous = '';
  const newLine = () => `\n${'  '.repeat(depth)}`;
  for (const [token] of text.matchAll(TOKEN)) {
    const isClosing = token === '}' || token === ']';
    const wasOpening = previous === '{' || previous === '[';
    if (isClosing) depth--;
    if (previous === ',' || (wasOpening && !isClosing) || (isClosing && !wasOpening)) written += newLine();
    written += token === ':' ? ': ' : token;
    if (token === '{' || token === '[') depth++;
    previous = token;
  }
  return written;
}
