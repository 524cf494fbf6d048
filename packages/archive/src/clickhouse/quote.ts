/*
 * The only way a value gets into SQL. Old servers have no query parameters, so that values are written as literals; every
 * byte that could end a literal, or mean something within it, is escaped.
 */

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '`': '\\`',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** A text as a literal of SQL. Lone surrogates, which are no text, become U+FFFD as in every UTF-8. */
export function quote(text: string): string {
  return `'${text.replace(/[\\'\0\b\f\n\r\t]/g, (found) => ESCAPES[found] ?? found)}'`;
}

/** The name of a table, a column, a database or a cluster. */
export function quoteName(name: string): string {
  return `\`${name.replace(/[\\`\0\b\f\n\r\t]/g, (found) => ESCAPES[found] ?? found)}\``;
}

/** An integer as SQL; anything else is a mistake of the caller. */
export function quoteInteger(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not an integer`);
  return String(value);
}

/** The range of `Date`: a time beyond it is as good as its end. */
const MAX_TIME_MS = 8.64e15;

/** Epoch ms as SQL, for a column of 64 bits; also of infinity. */
export function quoteTime(timeMs: number): string {
  return quoteInteger(Math.min(MAX_TIME_MS, Math.max(-MAX_TIME_MS, Math.trunc(timeMs))));
}
