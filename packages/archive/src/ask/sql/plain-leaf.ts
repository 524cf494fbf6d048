import { quote } from '../../clickhouse/quote.ts';
import { joined } from './bounds.ts';

/*
 * Most contexts are flat objects of plain values, `{"shard":13,"user":"ann"}`: of those, SQL reads a field itself. Others
 * (nested objects, lists, escapes, white space, a key twice) are left to the engine.
 */

/** How SQL reads a leaf of a flat context. */
export interface PlainLeaf {
  /** The context is flat and has the leaf; its value is `value`. */
  isThere: string;
  /** The context is flat, or there is none, and does not have the leaf: a message may. */
  isMissing: string;
  /** Its text: a string without its quotes, or the number as written. */
  value: string;
}

/** No list, no object within it, no escape, and no white space around colons. */
const IS_FLAT = [
  "startsWith(context, '{\"')",
  "endsWith(context, '}')",
  "position(context, '[') = 0",
  "position(substring(context, 2), '{') = 0",
  "position(context, '\\\\') = 0",
  "position(context, '\": ') = 0",
  "position(context, '\" :') = 0",
].join(' AND ');

/** A string without escapes, a number or a word, and nothing around it. */
const IS_VALUE = '^("[^"\\\\\\\\]*"|[-+.0-9A-Za-z]+)$';

/** `undefined` if its name may be written differently. */
export function plainLeaf(path: string): PlainLeaf | undefined {
  if (!/^[\w.@$-]{1,100}$/.test(path)) return undefined;
  const key = quote(`"${path}":`);
  const raw = `visitParamExtractRaw(context, ${quote(path)})`;
  const isOnce = `position(substring(context, position(context, ${key}) + 1), ${key}) = 0`;
  const isThere = joined('AND', [IS_FLAT, `position(context, ${key}) > 0`, isOnce, `match(${raw}, '${IS_VALUE}')`]);
  // Without its name anywhere, it is not there in any spelling.
  const isMissing = joined('OR', ["context = ''", `(${IS_FLAT} AND position(context, ${quote(`"${path}"`)}) = 0)`]);
  const value = `if(startsWith(${raw}, '"'), substring(${raw}, 2, length(${raw}) - 2), ${raw})`;
  return { isThere, isMissing, value };
}
