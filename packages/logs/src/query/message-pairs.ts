/** A `key=value` pair of a message. */
export interface Pair {
  key: string;
  value: string;
  quoted: boolean;
}

const KEY_CHARACTER = /[\w.@/-]/;
const KEY_START = /[A-Za-z_@]/;
const BEFORE_KEY = /[\s([{,;"']/;
const BARE_END = /[\s,;)\]}"']/g;

/**
 * The pairs in a text: `shard=13`, `"user"="a b"` is none. A key starts the text or follows white space or one of
 * `([{,;"'`; its value is quoted (`"..."` with `\"` and `\\`) or ends before white space, a quote or one of `,;)]}`.
 * Takes linear time: a quoted value that is not closed can only be the last one.
 */
export function messagePairs(text: string): Pair[] {
  const pairs: Pair[] = [];
  let from = 0;
  for (let at = text.indexOf('='); at >= 0; at = text.indexOf('=', from)) {
    const keyStart = findKey(text, at, from);
    from = at + 1;
    if (keyStart < 0) continue;
    const quoted = text[at + 1] === '"';
    const end = quoted ? quotedEnd(text, at + 1) : bareEnd(text, at + 1);
    if (end <= at + 1) continue;
    const value = quoted ? text.slice(at + 2, end - 1).replace(/\\(["\\])/g, '$1') : text.slice(at + 1, end);
    pairs.push({ key: text.slice(keyStart, at), value, quoted });
    from = end;
  }
  return pairs;
}

/** Where the key before the `=` starts, not before `from`; -1 if there is none. */
function findKey(text: string, equals: number, from: number): number {
  let start = equals;
  while (start > from && KEY_CHARACTER.test(text[start - 1] ?? '')) start--;
  if (start === equals || !KEY_START.test(text[start] ?? '')) return -1;
  return start === 0 || BEFORE_KEY.test(text[start - 1] ?? '') ? start : -1;
}

/** After the closing quote; -1 if there is none. */
function quotedEnd(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === '"') return at + 1;
    if (text[at] === '\\' && (text[at + 1] === '"' || text[at + 1] === '\\')) at++;
  }
  return -1;
}

function bareEnd(text: string, start: number): number {
  BARE_END.lastIndex = start;
  return BARE_END.exec(text)?.index ?? text.length;
}
