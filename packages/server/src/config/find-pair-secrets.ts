import type { Credential } from './credential.ts';

export type SecretName = (name: string) => boolean;

/** Longest name looked at before a `=` or `:`; it keeps the search linear. */
const MAX_NAME = 64;

const QUOTES = /["'`]/;

/** Names whose value is a scheme and a token: the scheme stays readable. */
const SCHEME = /^(?:bearer|basic|digest|negotiate|token|apikey)[ \t]+/i;

/**
 * Values of secret names within a text: `password=pw` in query strings and connection strings, `"password": "pw"`,
 * `Authorization: Bearer xyz`, `--password pw`.
 */
export function findPairSecrets(text: string, isSecretName: SecretName): Credential[] {
  const found: Credential[] = [];
  let done = 0;
  for (const match of text.matchAll(/[=:]|(?<![\w-])--?[A-Za-z][\w-]{1,63}[ \t]+/g)) {
    if (match.index < done) continue;
    const value =
      match[0].length === 1 ? valueOfPair(text, match.index, isSecretName) : valueOfFlag(text, match, isSecretName);
    if (value === undefined || /^(?:true|false)$/i.test(text.slice(value.start, value.end))) continue;
    found.push(value);
    done = value.end;
  }
  return found;
}

function valueOfFlag(text: string, match: RegExpExecArray, isSecretName: SecretName): Credential | undefined {
  if (!isSecretName(match[0].trim())) return undefined;
  const start = match.index + match[0].length;
  if (/[-=:]/.test(text[start] ?? '-')) return undefined;
  return valueFrom(text, start, /\s/g);
}

function valueOfPair(text: string, at: number, isSecretName: SecretName): Credential | undefined {
  const before = text.slice(Math.max(0, at - MAX_NAME), at);
  const name = nameAtEnd(before, isSecretName);
  if (name === undefined) return undefined;
  const start = at + 1 + (/^[ \t]*/.exec(text.slice(at + 1, at + 1 + MAX_NAME))?.[0].length ?? 0);
  const isColon = text[at] === ':';
  if (isColon && !isColonPair(text, at, { start, name: name[0] })) return undefined;
  const nameStart = at - before.length + name.index;
  if (/(?:authorization|cookie)["'`]?[ \t]*$/i.test(name[0])) return valueOfHeader(text, start, nameStart);
  const value = valueFrom(text, start, endOfValue(text, nameStart));
  return value === undefined ? undefined : { ...value, certain: !isColon && value.certain };
}

/** One word, or several where nothing else can stand before: `Account Key=` at the start or after a semicolon. */
function nameAtEnd(before: string, isSecretName: SecretName): RegExpExecArray | undefined {
  const word = /([\w.-]+)["'`]?[ \t]*$/.exec(before);
  if (word !== null && isSecretName(word[1] ?? '')) return word;
  const phrase = /(?<=^[ \t#]*|;[ \t]*)([A-Za-z]+(?: [A-Za-z]+)+)[ \t]*$/.exec(before);
  return phrase !== null && isSecretName(phrase[1] ?? '') ? phrase : undefined;
}

/** `secrets:read` and `http://token:8080` are no pairs; `password: x`, `"token":"x"` and `password:x` are. */
function isColonPair(text: string, at: number, pair: { start: number; name: string }): boolean {
  if (text.startsWith('://', at)) return false;
  if (pair.start > at + 1 || QUOTES.test(text[at + 1] ?? '')) return true;
  return /pass|pwd/i.test(pair.name) && !/\d/.test(text[at + 1] ?? '');
}

/** The whole header without the scheme, to the end of its line or to the quote that opened it or its value. */
function valueOfHeader(text: string, start: number, nameStart: number): Credential | undefined {
  const opener = [text[start], text[nameStart - 1]].find((sign) => sign !== undefined && QUOTES.test(sign));
  const from = opener !== undefined && opener === text[start] ? start + 1 : start;
  const scheme = SCHEME.exec(text.slice(from, from + MAX_NAME))?.[0].length ?? 0;
  const first = from + scheme;
  const end = [text.indexOf('\n', first), opener === undefined ? -1 : text.indexOf(opener, first)];
  const stop = Math.min(...end.map((at) => (at < 0 ? text.length : at)));
  return stop > first ? { start: first, end: stop, certain: true } : undefined;
}

/** What ends an unquoted value depends on what parts the pairs, because a password may hold the other signs. */
function endOfValue(text: string, nameStart: number): RegExp {
  const prefix = text.slice(Math.max(0, nameStart - MAX_NAME), nameStart).trimEnd();
  const sign = prefix.at(-1);
  if (sign === ';') return /[;\r\n]/g;
  if (sign === '?' || sign === '&') return /[&#\s]/g;
  if (sign === ',' || sign === '{' || sign === '(' || sign === '[') return /[,})\]\s]/g;
  if (sign === undefined && nameStart < MAX_NAME && /^[^\r\n;]*;/.test(text)) return /[;\r\n]/g;
  return /\s/g;
}

function valueFrom(text: string, start: number, end: RegExp): Credential | undefined {
  const quote = text[start] ?? '';
  const quoted = QUOTES.test(quote) ? closingQuote(text, start) : -1;
  if (quoted >= 0) return quoted > start + 1 ? { start: start + 1, end: quoted, certain: true } : undefined;
  end.lastIndex = start;
  let stop = end.exec(text)?.index ?? text.length;
  // The quote around the whole connection string, as it stands in comments.
  while (stop > start && QUOTES.test(text[stop - 1] ?? '')) stop--;
  return stop > start ? { start, end: stop, certain: true } : undefined;
}

/** Position of the quote that closes the one at `start`, -1 for none. */
function closingQuote(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === '\\') index++;
    else if (text[index] === text[start]) return index;
  }
  return -1;
}
