import type { ConfigTree, TextRange } from '../formats/config-document.ts';
import { closingQuote, readJson, readWholeJson } from '../formats/read-json.ts';
import { findTreeSecrets } from './config-tree.ts';
import { readLines } from './line-fragment.ts';
import type { Credential } from './mask-ranges.ts';
import { secretArguments } from './secret-arguments.ts';

/** Length from which the word after a scheme is a token and not part of a sentence ("Basic auth"); shorter with a digit. */
const TOKEN_LENGTH = 16;
const TOKEN_WITH_DIGIT_LENGTH = 8;

/**
 * Secrets within a text that is not a secret itself: passwords in URLs, connection strings and command lines, secret query
 * parameters, tokens, private keys, and configurations in other languages. One pass each, linear in the length of the
 * text.
 */
export function findCredentials(text: string, options: FragmentOptions): Credential[] {
  // Shorter than the shortest secret with its marker.
  if (text.length < 3) return [];
  return [
    ...findUserInfoSecrets(text),
    ...findPairSecrets(text, options.isSecretName),
    ...findSchemeTokens(text),
    ...findPrivateKeys(text),
    ...findKnownTokens(text),
    ...findDirectiveSecrets(text, options.isSecretName),
    ...findFragmentSecrets(text, options),
  ];
}

function findSchemeTokens(text: string): Credential[] {
  const found: Credential[] = [];
  const first = text.length - text.trimStart().length;
  const last = text.trimEnd().length;
  for (const match of text.matchAll(/\b(?:bearer|basic|digest|negotiate)[ \t]+([\w.~+/=-]+)/gi)) {
    const token = match[1] ?? '';
    const end = match.index + match[0].length;
    const isAll = match.index === first && end === last;
    const isToken =
      token.length >= TOKEN_LENGTH || (token.length >= TOKEN_WITH_DIGIT_LENGTH && /[\d=]/.test(token)) || isAll;
    if (isToken) found.push({ start: end - token.length, end, certain: !isAll || token.length >= TOKEN_LENGTH });
  }
  return found;
}

/** The lines between BEGIN and END; to the end of the text when no END follows. */
function findPrivateKeys(text: string): Credential[] {
  const found: Credential[] = [];
  let end = 0;
  for (const match of text.matchAll(
    /-----BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d)-----/g,
  )) {
    if (match.index < end) continue;
    const start = match.index + match[0].length;
    const marker = text.indexOf('-----END', start);
    end = marker < 0 ? text.length : marker;
    if (text.slice(start, end).trim() !== '') found.push({ start, end, certain: true });
  }
  return found;
}

/** Tokens with a known format. Each part is bounded, so that matching is linear. */
const TOKENS = [
  'gh[oprsu]_[A-Za-z0-9]{16,255}',
  'github_pat_\\w{20,255}',
  'gl(?:pat|dt|rt|cbt|ptt|agent)-[\\w-]{16,255}',
  'xox[abeoprs]-[\\w-]{10,255}',
  '(?:AKIA|ASIA)[A-Z0-9]{12,32}',
  '[sr]k_(?:live|test)_\\w{10,255}',
  'sk-(?:proj-|ant-)?[\\w-]{24,255}',
  'SG\\.[\\w-]{10,64}\\.[\\w-]{10,128}',
  'npm_[A-Za-z0-9]{20,255}',
  'hv[sbr]\\.[\\w-]{10,255}',
  'AIza[\\w-]{30,64}',
  'ya29\\.[\\w.-]{10,1024}',
  'pypi-[\\w-]{16,1024}',
  'dckr_pat_[\\w-]{16,255}',
  'dop_v1_[a-f0-9]{32,128}',
  'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32,64}',
  'AGE-SECRET-KEY-1[A-Z0-9]{20,100}',
  'S[ACNOU][A-Z2-7]{54,56}',
  'eyJ[\\w-]{8,4096}\\.eyJ[\\w-]{2,8192}\\.[\\w-]{0,2048}',
  // A private key in base64.
  'LS0tLS1CRUdJTi[\\w+/]{4,16384}={0,2}',
];

/** Hashes of passwords: crypt, bcrypt, argon2, and those of LDAP and htpasswd. */
const HASHES = [
  '\\$(?:apr1|1|2[abxy]?|5|6|7|y|gy|argon2(?:i|d|id)|scrypt|pbkdf2(?:-\\w{1,16})?)\\$[^\\s"\',;<]{8,512}',
  '\\{(?:S?SHA(?:256|512)?|S?MD5|CRYPT|PBKDF2[\\w-]{0,16})\\}[\\w+/=$.]{8,512}',
];

/** Webhook URLs, whose path is the secret. */
const HOOKS = [
  'hooks\\.slack\\.com/(?:services|workflows|triggers)/',
  '(?:discord|discordapp)\\.com/api/(?:v\\d+/)?webhooks/\\d+/',
  '[\\w-]{1,64}\\.webhook\\.office\\.com/webhookb2/',
  'outlook\\.office(?:365)?\\.com/webhook/',
  'hooks\\.zapier\\.com/hooks/catch/',
  'api\\.telegram\\.org/bot',
  // Mattermost, Rocket.Chat and others
  '[^\\s/"\']{1,255}/hooks/(?=[\\w-]{20,255}(?:[/?\\s"\'<]|$))',
];

/** Characters before a token that would make it part of another word. */
const KNOWN = new RegExp(`(?<![\\w+/=-])(?:${[...TOKENS, ...HASHES].join('|')})`, 'g');
const HOOK = new RegExp(`//(?:${HOOKS.join('|')})`, 'gi');

function findKnownTokens(text: string): Credential[] {
  const found: Credential[] = [];
  for (const { 0: token, index } of text.matchAll(KNOWN)) {
    found.push({ start: index, end: index + token.length, certain: true });
  }
  let stop = 0;
  for (const { 0: address, index } of text.matchAll(HOOK)) {
    if (index < stop) continue;
    const start = index + address.length;
    // The name of a method follows a bot's token; of the others all of the path counts.
    const end = /telegram/i.test(address) ? /[/?\s"'<]/g : /[?\s"'<]/g;
    end.lastIndex = start;
    stop = end.exec(text)?.index ?? text.length;
    if (stop > start) found.push({ start, end: stop, certain: true });
  }
  return found;
}

interface FragmentOptions {
  /** Names around the text. */
  path: readonly string[];
  secretKeys: readonly string[];
  isSecretName(name: string): boolean;
  /** A colon may be followed by a sentence. */
  isComment?: boolean;
}

/** Longest word that is taken for an argument. */
const ARGUMENT = /(?:"[^"\r\n]{0,512}"|'[^'\r\n]{0,512}'|[^\s"'])+/g;

/** Secrets of a configuration within a text: JSON, YAML, INI, properties, dotenv; and of a command line. */
function findFragmentSecrets(text: string, options: FragmentOptions): Credential[] {
  const found: Credential[] = [];
  const take = (tree: ConfigTree<TextRange>, path: readonly string[]) =>
    findTreeSecrets(tree, {
      path,
      secretKeys: options.secretKeys,
      onSecret: ({ start, end }, part) => found.push(toCredential({ start, end }, part)),
    });
  const json = readWholeJson(text);
  if (json) take(json, options.path);
  else if (hasLines(text, options))
    for (const { path, tree } of readLines(text)) take(tree, [...options.path, ...path]);
  for (const line of splitLines(text))
    found.push(...findInCommand(line.text, options).map((part) => shift(part, line.start)));
  return found.filter(({ start, end }) => end > start);
}

/** All behind the colon of a single line is its value; a connection string has several on its line. */
function hasLines(text: string, { isComment }: FragmentOptions): boolean {
  if (text.includes('\n')) return true;
  return (
    !isComment && /^\s*["']?[\w.-]{1,128}["']?:[ \t]/.test(text) && !/^\W*[\w-]*(?:authorization|cookie)\W/i.test(text)
  );
}

function toCredential(leaf: TextRange, part: 'whole' | TextRange): Credential {
  if (part === 'whole') return { ...leaf, certain: true };
  return { start: leaf.start + part.start, end: Math.min(leaf.end, leaf.start + part.end), certain: true };
}

function findInCommand(text: string, options: FragmentOptions): Credential[] {
  const { isSecretName } = options;
  if (!/(?:^|\s)["']?-/.test(text)) return [];
  const words = [...text.matchAll(ARGUMENT)].map(({ 0: word, index }) => {
    const isQuoted = /^["']/.test(word) && word.length > 1;
    return { start: isQuoted ? index + 1 : index, end: isQuoted ? index + word.length - 1 : index + word.length };
  });
  const texts = words.map(({ start, end }) => text.slice(start, end));
  // A command within a command: `sh -c "curl -u name:x"`.
  const inner = words.flatMap(({ start, end }, index) => {
    const isCommand = start > 0 && /["']/.test(text[start - 1] ?? '') && /\s-/.test(texts[index] ?? '');
    return isCommand ? findInCommand(text.slice(start, end), options).map((part) => shift(part, start)) : [];
  });
  const own = secretArguments(texts, (name) => name.length > 1 && isSecretName(name)).flatMap(({ index, part }) => {
    const word = words[index];
    // The comma of a list within a text; the list itself is parsed elsewhere.
    return word && texts[index] !== ',' ? [toCredential(word, part)] : [];
  });
  return [...own, ...inner];
}

function splitLines(text: string): { text: string; start: number }[] {
  let start = 0;
  return text.split('\n').map((line) => {
    const at = start;
    start += line.length + 1;
    return { text: line, start: at };
  });
}

function shift({ start, end, certain }: Credential, by: number): Credential {
  return { start: start + by, end: end + by, certain };
}

/** Longest scheme looked for before `://`; `jdbc:sqlserver` and the like end in a plain one. */
const MAX_SCHEME = 32;

/** How far into a word its scheme is looked for. */
const MAX_WORD_HEAD = 64;

/** After these schemes, the part before an `@` is an address, not a password. */
const ADDRESS_SCHEMES = /(?:^|[^a-z])(?:mailto|sip|sips|xmpp|acct|im|image)$/i;

/** Passwords before an `@`: `scheme://user:pw@host`, `user:pw@tcp(host)/db` and `user:pw@host`. */
function findUserInfoSecrets(text: string): Credential[] {
  if (!text.includes('@')) return [];
  return [...findInUrls(text), ...findInGoDsns(text), ...findInBareAddresses(text)];
}

function findInUrls(text: string): Credential[] {
  const found: Credential[] = [];
  let at = text.indexOf('://');
  while (at >= 0) {
    const next = text.indexOf('://', at + 3);
    const scheme = schemeBefore(text, at);
    const limit = next < 0 ? text.length : next - schemeBefore(text, next).length;
    const start = at + 3;
    const end = Math.max(start, urlEnd(text, { start, limit, quote: text[at - scheme.length - 1] }));
    const secret = findUrlSecret(text.slice(start, end), /^https?$/i.test(scheme));
    if (secret !== undefined) {
      found.push({ start: start + secret.start, end: start + secret.end, certain: true });
    }
    at = next;
  }
  return found;
}

function schemeBefore(text: string, at: number): string {
  return /[a-z][a-z0-9+.-]*$/i.exec(text.slice(Math.max(0, at - MAX_SCHEME), at))?.[0] ?? '';
}

/** A quote ends the URL only if one opened it: a password may hold any other. */
function urlEnd(text: string, url: { start: number; limit: number; quote: string | undefined }): number {
  const closing = url.quote !== undefined && /["'`]/.test(url.quote) ? url.quote : '';
  for (let index = url.start; index < url.limit; index++) {
    const sign = text[index] ?? '';
    if (sign === closing || /\s/.test(sign)) return index;
  }
  return url.limit;
}

/** `rest` is what follows `://`. */
function findUrlSecret(rest: string, isHttp: boolean): { start: number; end: number } | undefined {
  const end = userInfoEnd(rest);
  if (end <= 0) return undefined;
  const colon = rest.slice(0, end).indexOf(':');
  const password = colon < 0 ? '' : rest.slice(colon + 1, end);
  if (password !== '' && password !== 'x-oauth-basic') return { start: colon + 1, end };
  // Over HTTP a name without a password is an access token: https://ghp_abc@host, https://key:@host.
  const user = colon < 0 ? end : colon;
  return isHttp && user > 0 ? { start: 0, end: user } : undefined;
}

/** Position of the `@` that ends the user part, -1 for none. */
function userInfoEnd(rest: string): number {
  const authority = rest.slice(0, indexOrEnd(rest, /[/?#]/));
  const last = rest.lastIndexOf('@');
  if (authority.includes('@')) {
    // An `@` in a query is no part of the password; a `?` in a password is followed by no `=`.
    const query = indexOrEnd(rest, /\?/);
    return rest.slice(query, last).includes('=') ? rest.slice(0, query).lastIndexOf('@') : last;
  }
  // No host has this form, so a `/`, `?` or `#` of an unescaped password ended the authority.
  const isHost = !authority.includes(':') || authority.startsWith('[') || /:\d*(?:,|$)/.test(authority);
  return isHost ? -1 : last;
}

function indexOrEnd(text: string, sign: RegExp): number {
  const at = text.search(sign);
  return at < 0 ? text.length : at;
}

/** `@tcp(` is so specific that the password before it may contain blanks. */
function findInGoDsns(text: string): Credential[] {
  const found: Credential[] = [];
  let from = 0;
  for (const match of text.matchAll(/@[a-z][a-z0-9]{0,15}\(/gi)) {
    const before = text.slice(from, match.index);
    const line = before.lastIndexOf('\n') + 1;
    const colon = before.indexOf(':', line);
    if (colon >= 0) found.push({ start: from + colon + 1, end: match.index, certain: true });
    from = match.index + 1;
  }
  return found;
}

function findInBareAddresses(text: string): Credential[] {
  const found: Credential[] = [];
  for (const match of text.matchAll(/\S+/g)) {
    const word = match[0];
    // `jdbc:oracle:thin:user/password@host` has colons of its own.
    if (/(?:^|[^a-z])jdbc:oracle:/i.test(word.slice(0, MAX_WORD_HEAD))) continue;
    const at = word.lastIndexOf('@');
    const colon = word.search(/:(?!["'`])/);
    if (colon < 0 || colon + 1 >= at || word.slice(0, at).includes('://')) continue;
    if (ADDRESS_SCHEMES.test(word.slice(Math.max(0, colon - MAX_SCHEME), colon))) continue;
    if (!/^@[\w[/(]/.test(word.slice(at, at + 2)) || word.startsWith('@sha', at)) continue;
    found.push({ start: match.index + colon + 1, end: match.index + at, certain: true });
  }
  return found;
}

type SecretName = (name: string) => boolean;

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
function findPairSecrets(text: string, isSecretName: SecretName): Credential[] {
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

/** Longer than any password; it keeps the search linear. */
const MAX_BRACED = 1024;

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
  const stop = text.slice(start, start + MAX_BRACED).search(/\}(?=;|\s{0,64}$)/);
  return stop > 1 ? { start: start + 1, end: start + stop, certain: true } : undefined;
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

/** A directive with a secret in the last group of its pattern. The other groups are names that must be secret. */
interface Directive {
  pattern: RegExp;
  /** Texts without it are skipped. */
  needs: RegExp;
  /** Group with a name that must be that of a secret. */
  name?: number;
}

/** nginx: to whom a request is passed on. */
export const NOT_SECRETS = /^(?:proxy|fastcgi|uwsgi|scgi|grpc|memcached)_pass$/;

const DIRECTIVES: readonly Directive[] = [
  // .netrc
  { needs: /\bmachine\s/, pattern: /\bpassword\s{1,8}(\S{1,512})/g },
  // HAProxy
  {
    needs: /password/,
    pattern: /^[ \t]{0,64}user[ \t]{1,8}\S{1,128}[ \t]{1,8}(?:insecure-)?password[ \t]{1,8}(\S{1,512})/gm,
  },
  { needs: /auth/, pattern: /\bstats[ \t]{1,8}auth[ \t]{1,8}[^\s:]{1,128}:(\S{1,512})/g },
  // Redis Sentinel
  { needs: /auth-pass/, pattern: /\bauth-pass[ \t]{1,8}\S{1,128}[ \t]{1,8}(\S{1,512})/g },
  // Kafka: users of the server's login module
  { needs: /LoginModule/, pattern: /\buser_[\w.-]{1,128}[ \t]{0,8}=[ \t]{0,8}"([^"\r\n]{1,512})"/g },
  // nginx, Apache, HAProxy: headers that are set
  {
    needs: /header/i,
    pattern:
      /\b(?:proxy_set_header|add_header|set-header|RequestHeader[ \t]set)[ \t]{1,8}["']?([\w-]{1,128})["']?[ \t]{1,8}["']?(?:(?:bearer|basic)[ \t]{1,8})?([^\s;"']{1,512})/gi,
    name: 1,
  },
  // A name and one value on a line of its own: Redis, Fluent Bit
  { needs: /\n/, pattern: /^[ \t]{0,64}([\w.-]{2,128})[ \t]{1,32}([^\s;=:]\S{0,511}?);?[ \t\r]{0,8}$/gm, name: 1 },
  // Apache, Dockerfiles, FastCGI: variables of the environment; nginx: its own
  {
    needs: /\n/,
    pattern:
      /^[ \t]{0,64}(?:SetEnv|ENV|env|(?:fastcgi|uwsgi|scgi)_param)[ \t]{1,8}([\w.-]{1,128})[ \t]{1,8}["']?([^\s;"']{1,512})/gm,
    name: 1,
  },
  { needs: /\$/, pattern: /^[ \t]{0,64}set[ \t]{1,8}\$([\w]{1,128})[ \t]{1,8}["']?([^\s;"']{1,512})/gm, name: 1 },
  // .pgpass: host, port, database, user, password
  { needs: /:/, pattern: /^[^\s:#]{1,255}:(?:\d{1,5}|\*):[^\s:]{1,128}:[^\s:]{1,128}:(\S{1,512})$/gm },
  // SQL
  {
    needs: /'/,
    pattern:
      /\b(?:identified(?:[ \t]+with[ \t]+\S{1,64})?[ \t]+(?:by|as)|password|secret|token)[ \t]{1,8}(?:password[ \t]{1,8})?'((?:[^'\r\n]|''){1,512})'/gi,
  },
  // Oracle
  { needs: /@/, pattern: /(?:^|:thin:|:oci:)[A-Za-z][\w$#]{0,63}\/([^\s@/"']{1,128})@(?=\/\/|[\w.-]{1,255}:\d)/g },
  // XML
  { needs: /<\//, pattern: /<([\w.-]{1,128})(?:\s[^<>]{0,256})?>([^<>]{1,4096})<\//g, name: 1 },
  {
    needs: /<\//,
    pattern: /<(?:name|key)>\s{0,64}([\w.-]{1,128})\s{0,64}<\/(?:name|key)>\s{0,64}<value>([^<>]{1,4096})<\//gi,
    name: 1,
  },
  {
    needs: /</,
    pattern: /<[\w.-]{1,64}\s[^<>]{0,256}?\b(?:name|key)="([\w.:-]{1,128})"\s[^<>]{0,256}?\bvalue="([^"<>]{1,4096})"/gi,
    name: 1,
  },
];

/** Secrets in the configuration languages of servers and databases, which have no `=` or `:`. */
function findDirectiveSecrets(text: string, isSecretName: SecretName): Credential[] {
  const found: Credential[] = [];
  for (const { needs, pattern, name } of DIRECTIVES) {
    if (!needs.test(text)) continue;
    for (const match of text.matchAll(pattern)) {
      const secret = match.at(-1) ?? '';
      if (name !== undefined && !isSecretName(match[name] ?? '')) continue;
      if (NOT_SECRETS.test(match[name ?? 0] ?? '')) continue;
      const start = match.index + match[0].lastIndexOf(secret);
      if (secret.trim() !== '') found.push({ start, end: start + secret.length, certain: true });
    }
  }
  return [...found, ...findAclSecrets(text)];
}

/** Redis: passwords (`>`, `<`) and their hashes (`#`, `!`) in an access control list. */
function findAclSecrets(text: string): Credential[] {
  const found: Credential[] = [];
  for (const { 0: line, index } of text.matchAll(/^[ \t]*user[ \t].*$/gm)) {
    if (!/[ \t](?:on|off)(?:[ \t]|$)/.test(line)) continue;
    for (const word of line.matchAll(/[ \t][<>#!](\S+)/g)) {
      const start = index + word.index + 2;
      found.push({ start, end: start + (word[1]?.length ?? 0), certain: true });
    }
  }
  return found;
}
