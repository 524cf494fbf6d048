import { closingQuote, readJson, readWholeJson } from './json-fragment.ts';
import type { Credential } from './mask-ranges.ts';

export type SecretName = (name: string) => boolean;

/** Maximum length of a name before `=` or `:`; it keeps the search linear. */
const MAX_NAME = 64;

const QUOTES = /["'`]/;

/** Names of secrets in the query of a URL that mean other things elsewhere. */
const QUERY_NAMES = /^(?:sig|signature|x-(?:amz|goog|oss|cos)-signature|key|code|auth|apikey|sas)$/i;

/** Names whose value is a scheme and a token: the scheme stays readable. */
const SCHEME = /^(?:bearer|basic|digest|negotiate|token|apikey)[ \t]+/i;

/**
 * Values of secret names within a text: `password=pw` in query strings and connection strings, `"password": "pw"`,
 * `Authorization: Bearer xyz`, `--password=pw`.
 */
export function findPairSecrets(text: string, isSecretName: SecretName): Credential[] {
  const found: Credential[] = [];
  let done = 0;
  for (const match of text.matchAll(/[=:]/g)) {
    if (match.index < done) continue;
    const value = readPairValue(text, match.index, isSecretName);
    if (value === undefined || /^(?:true|false)$/i.test(text.slice(value.start, value.end))) continue;
    found.push(value);
    done = value.end;
  }
  return found;
}

function readPairValue(text: string, at: number, isSecretName: SecretName): Credential | undefined {
  const before = text.slice(Math.max(0, at - MAX_NAME), at);
  const name = nameAtEnd(before, isSecretName) ?? queryNameAtEnd(before, text[at]);
  if (name === undefined) return undefined;
  // Ruby and Logstash write `=>`.
  const start = at + 1 + (/^>?[ \t]*/.exec(text.slice(at + 1, at + 1 + MAX_NAME))?.[0].length ?? 0);
  const isColon = text[at] === ':';
  if (isColon && !isColonPair(text, at, { start, name: name[0] })) return undefined;
  if (isColon && /[[{]/.test(text[start] ?? '')) return valueInBrackets(text, start);
  // The lines below are read as YAML.
  if (isColon && /^[|>][+-]?\d?[ \t\r]*(?:\n|$)/.test(text.slice(start, start + MAX_NAME))) return undefined;
  const nameStart = at - before.length + name.index;
  if (/(?:authorization|cookie)["'`]?[ \t]*$/i.test(name[0])) return readHeaderValue(text, start, nameStart);
  const braced = bracedValue(text, start, nameStart);
  if (braced) return braced;
  const value = valueFrom(text, start, valueEndPattern(text, { at, nameStart }));
  return value === undefined ? undefined : { ...value, certain: !isColon && value.certain };
}

/** One word, or several where nothing else can stand before: `Account Key=` at the start or after a semicolon. */
function nameAtEnd(before: string, isSecretName: SecretName): RegExpExecArray | undefined {
  const word = /([\w.-]+)(?:\\*["'`])?[ \t]*$/.exec(before);
  if (word !== null && isSecretName(word[1] ?? '')) return word;
  const phrase = /(?<=^[ \t#]*|;[ \t]*)([A-Za-z]+(?: [A-Za-z]+)+)[ \t]*$/.exec(before);
  return phrase !== null && isSecretName(phrase[1] ?? '') ? phrase : undefined;
}

function queryNameAtEnd(before: string, sign: string | undefined): RegExpExecArray | undefined {
  const word = sign === '=' ? /(?<=[?&])([\w-]+)$/.exec(before) : null;
  return word !== null && QUERY_NAMES.test(word[1] ?? '') ? word : undefined;
}

/** `secrets:read` and `http://token:8080` are no pairs; `password: x`, `"token":"x"` and `password:x` are. */
function isColonPair(text: string, at: number, pair: { start: number; name: string }): boolean {
  if (text.startsWith('://', at)) return false;
  if (pair.start > at + 1 || /^\\*["'`]/.test(text.slice(at + 1, at + 1 + MAX_NAME))) return true;
  if (/^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$/.test(pair.name)) return true;
  return /pass|pwd/i.test(pair.name) && !/\d/.test(text[at + 1] ?? '');
}

/** All in the brackets, unless all of the text is JSON, of which more is known than the name before a bracket. */
function valueInBrackets(text: string, start: number): Credential | undefined {
  if (readWholeJson(text)) return undefined;
  const end = readJson(text, start)?.end ?? -1;
  const close = end < 0 ? text.indexOf(text[start] === '[' ? ']' : '}', start) : end - 1;
  const stop = close < 0 ? text.length : close;
  return stop > start + 1 ? { start: start + 1, end: stop, certain: false } : undefined;
}

/** The whole header without the scheme, to the end of its line or to the quote that opened it or its value. */
function readHeaderValue(text: string, start: number, nameStart: number): Credential | undefined {
  const opener = [text[start], text[nameStart - 1]].find((sign) => sign !== undefined && QUOTES.test(sign));
  const from = opener !== undefined && opener === text[start] ? start + 1 : start;
  const scheme = SCHEME.exec(text.slice(from, from + MAX_NAME))?.[0].length ?? 0;
  const first = from + scheme;
  const end = [text.indexOf('\n', first), opener === undefined ? -1 : text.indexOf(opener, first)];
  const stop = Math.min(...end.map((at) => (at < 0 ? text.length : at)));
  return stop > first ? { start: first, end: stop, certain: true } : undefined;
}

/** The end of an unquoted value depends on the separator of the pairs, because a password may contain the others. */
function valueEndPattern(text: string, { at, nameStart }: { at: number; nameStart: number }): RegExp {
  const prefix = text.slice(Math.max(0, nameStart - MAX_NAME), nameStart).trimEnd();
  const sign = prefix.at(-1);
  if (sign === ';') return /[;\r\n]/g;
  if (sign === '?' || sign === '&') return /[&#\s]/g;
  if (sign === ',' || sign === '{' || sign === '(' || sign === '[') return /[,})\]\s]/g;
  // A name in quotes, as in JSON.
  if (QUOTES.test(text[at - 1] ?? '')) return /[,}\]\r\n]/g;
  if (sign === undefined && nameStart < MAX_NAME && /^[^\r\n;]*;/.test(text)) return /[;\r\n]/g;
  // `a=1,b=2` without any blank.
  if (sign === undefined && /^[\w.-]+=[^\s,]*,[\w.-]+=\S*$/.test(text)) return /,(?=[\w.-]+=)/g;
  return /\s/g;
}

/** `Password={a;b}` in connection strings: the braces hold a value with semicolons. A brace in it is doubled, or is not. */
function bracedValue(text: string, start: number, nameStart: number): Credential | undefined {
  if (
    text[start] !== '{' ||
    text
      .slice(Math.max(0, nameStart - MAX_NAME), nameStart)
      .trimEnd()
      .at(-1) !== ';'
  )
    return undefined;
  const end = /\}(?=;|\s*$)/g;
  end.lastIndex = start;
  const stop = end.exec(text)?.index ?? -1;
  return stop > start + 1 ? { start: start + 1, end: stop, certain: true } : undefined;
}

function valueFrom(text: string, start: number, end: RegExp): Credential | undefined {
  const escaped = /^\\+["'`]/.exec(text.slice(start, start + MAX_NAME))?.[0];
  if (escaped !== undefined) {
    // Quotes within a string within a string: the same number of backslashes closes it.
    const from = start + escaped.length;
    const close = text.indexOf(escaped, from);
    const stop = close < 0 ? text.length : close;
    return stop > from ? { start: from, end: stop, certain: true } : undefined;
  }
  const quote = text[start] ?? '';
  const quoted = QUOTES.test(quote) ? closingQuote(text, start) : -1;
  if (quoted >= 0) return quoted > start + 1 ? { start: start + 1, end: quoted, certain: true } : undefined;
  end.lastIndex = start;
  let stop = end.exec(text)?.index ?? text.length;
  // The quote around the whole connection string, as it stands in comments.
  while (stop > start && QUOTES.test(text[stop - 1] ?? '')) stop--;
  return stop > start ? { start, end: stop, certain: true } : undefined;
}
