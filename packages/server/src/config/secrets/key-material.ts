import type { MaskRange } from './mask-ranges.ts';
import { hasKeyTable, splitWords } from './secret-keys.ts';

/** Last words of keys whose value is `user:password`. */
const USER_INFO_WORDS: ReadonlySet<string> = new Set([
  ...['auth', 'basicauth', 'digestauth', 'httpauth', 'proxyauth', 'userinfo', 'userpwd', 'userpass'],
]);

/** `<kind> key` that is meant to be known, or names something in a store of data. */
const OPEN_KEY_KINDS: ReadonlySet<string> = new Set([
  ...['public', 'publishable', 'site', 'sort', 'partition', 'foreign', 'range', 'shard', 'cache', 'object'],
]);

/** Minimum length of a random value with letters and digits. Shorter ones are names as often as keys. */
const MATERIAL_CHARS = 20;
/** With dashes in it, which part the words of a name. */
const BASE64URL_CHARS = 32;
/** Changes between letters and digits in it: names with a year or a number at the end have one or two. */
const MATERIAL_CHANGES = 3;

/** Methods of authentication whose names have digits or signs. */
const METHODS =
  /^(?:oauth-?(?:[12](?:\.0)?|bearer)|sha-?\d{1,3}|(?:aws-)?sigv4|aws-iam|ntlmv\d|scram-sha-\d{1,3}(?:-plus)?|saml-?2(?:\.0)?|x-?509|(?:api|basic|http|client|digest|mutual)[-_](?:key|auth|basic|cert|certificate|md5|tls))$/i;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * The secret part of a value whose key alone does not say that it is one: `user:password` under `basic_auth`, and what
 * looks like a key under a name that ends in `key` or within a table about keys.
 */
export function findKeyMaterial(path: readonly string[], text: string): 'whole' | MaskRange | undefined {
  const names = path.map(splitWords);
  const words = names.at(-1) ?? [];
  if (isUserInfoKey(names)) return userInfoPart(path.at(-1) ?? '', text);
  const last = words.at(-1) ?? '';
  const isKey = /^keys?$/.test(last) && !OPEN_KEY_KINDS.has(words.at(-2) ?? '');
  const isEncrypt = /^(?:encrypt|encryption|private)$/.test(last) || /^key (?:hex|base|raw|bin)$/.test(words.join(' '));
  if (!isKey && !isEncrypt && !hasKeyTable(path.slice(0, -1))) return undefined;
  if (OPEN_KEY_KINDS.has(words.at(-2) ?? '')) return undefined;
  return isMaterial(text, isKey) ? 'whole' : undefined;
}

function isUserInfoKey(names: readonly string[][]): boolean {
  const [above = [], words = []] = names.slice(-2).length === 2 ? names.slice(-2) : [[], names.at(-1) ?? []];
  const last = words.at(-1) ?? '';
  if (USER_INFO_WORDS.has(last) || words.slice(-2).join(' ') === 'user info') return true;
  return (last === 'users' || last === 'user') && /(?:basic|digest) ?auth$/.test(above.join(' '));
}

function userInfoPart(key: string, text: string): 'whole' | MaskRange | undefined {
  if (isEncodedUserInfo(text)) return 'whole';
  if (key.toLowerCase() === 'auth' && isPassword(text)) return 'whole';
  // Neo4j takes NEO4J_AUTH=user/password.
  const [head] = (/neo4j/i.test(key) ? /^[^\s:/@]{1,128}[:/]/ : /^[^\s:/@]{1,128}:(?!\/\/)/).exec(text) ?? [];
  if (head === undefined || text.length === head.length) return undefined;
  // An address with its port.
  if (/^(?:localhost|[\w-]+(?:\.[\w-]+)+):\d{1,5}$/.test(text)) return undefined;
  return { start: head.length, end: text.trimEnd().length };
}

/** `auth = "..."` names a method or is the password of one: a word with digits or signs that is no known method. */
function isPassword(text: string): boolean {
  if (!/^[^\s:/]{6,128}$/.test(text) || !/[^A-Za-z]/.test(text)) return false;
  return !METHODS.test(text);
}

/** `user:password` in base64, as in Docker's configuration. */
function isEncodedUserInfo(text: string): boolean {
  if (!/^[\w+/-]{8,1024}={0,2}$/.test(text)) return false;
  return /^[\x20-\x39\x3b-\x7e]+:[\x20-\x7e]+$/.test(Buffer.from(text, 'base64').toString('latin1'));
}

function isMaterial(text: string, isKey: boolean): boolean {
  if (UUID.test(text)) return isKey;
  if (!/^[\w+/=:.-]+$/.test(text) || /^[./~]|\.\w{2,4}$/.test(text)) return false;
  const isLong = (part: string, chars: number) => part.length >= chars && countChanges(part) >= MATERIAL_CHANGES;
  if (text.split(/[-_.:]/).some((part) => isLong(part, MATERIAL_CHARS))) return true;
  // base64url has dashes of its own.
  const joined = text.replace(/[-_]/g, '');
  return isLong(joined, BASE64URL_CHARS) && /[A-Z]/.test(joined) && /[a-z]/.test(joined);
}

function countChanges(text: string): number {
  return [...text.matchAll(/\d(?=[A-Za-z+/])|[A-Za-z+/](?=\d)/g)].length;
}
