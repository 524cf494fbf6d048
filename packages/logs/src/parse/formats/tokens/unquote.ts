import { parseJson } from '../../exact-context.ts';

/** Unquotes a value; what is not quoted, or badly quoted, is returned as is. */
export function unquote(text: string): string {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return text;
  const value = parseJson(text);
  return value === undefined ? text.slice(1, -1) : String(value);
}
