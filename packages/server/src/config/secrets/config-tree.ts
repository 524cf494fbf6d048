import type { ConfigTree, TextRange, TreeEntry, TreeLeaf } from '../formats/config-document.ts';
import { secretArguments } from './secret-arguments.ts';
import { hasKeyTable, isSecretKey, splitWords } from './secret-keys.ts';

export interface TreeSecretOptions<L> {
  /** Names around the tree. */
  path: readonly string[];
  secretKeys: readonly string[];
  /** Called with each secret leaf, or the part of its text that is secret. */
  onSecret(leaf: L, part: 'whole' | TextRange): void;
}

/** Keys whose value names an entry of a list: `name = "DB_PASSWORD"`, `key: api_token`. */
const NAME_KEYS: ReadonlySet<string> = new Set([
  ...['name', 'key', 'variable', 'var', 'env', 'field', 'property', 'param', 'parameter', 'header', 'option'],
  ...['setting', 'attribute', 'k'],
]);

/** Keys with the value that belongs to such a name. */
const VALUE_KEYS: ReadonlySet<string> = new Set([
  ...[
    'value',
    'values',
    'val',
    'default',
    'content',
    'contents',
    'data',
    'text',
    'string',
    'plaintext',
    'current',
    'v',
  ],
]);

const ENVIRONMENT_WORDS: ReadonlySet<string> = new Set(['env', 'envs', 'environment', 'vars', 'variables']);

/**
 * Finds secrets by their position: under a secret key; as the value next to the name of one; after a flag in a list of
 * arguments; as `user:password` or key material if the key suggests it.
 */
export function findTreeSecrets<L>(tree: ConfigTree<L>, options: TreeSecretOptions<L>): void {
  new TreeWalk(options).visit(tree, options.path);
}

class TreeWalk<L> {
  readonly #options: TreeSecretOptions<L>;

  constructor(options: TreeSecretOptions<L>) {
    this.#options = options;
  }

  visit(node: ConfigTree<L>, path: readonly string[]): void {
    if (node.kind === 'table') this.#visitTable(node.entries, path);
    else if (node.kind === 'list') this.#visitList(node.items, path);
    else this.#visitLeaf(node, path);
  }

  #visitTable(entries: readonly TreeEntry<L>[], path: readonly string[]): void {
    const named = new Set<string>();
    for (const { names, node } of entries) {
      if (node.kind !== 'leaf' || node.text === undefined || !NAME_KEYS.has(lastName(names))) continue;
      if (this.#isSecretName(node.text)) named.add(parentTable(names));
    }
    const isSecretObject = entries.some(
      ({ names, node }) => names[0] === 'kind' && node.kind === 'leaf' && node.text === 'Secret',
    );
    for (const { names, node } of entries) {
      // Kubernetes: whatever its keys are called.
      if (isSecretObject && /^(?:data|stringData)$/.test(names[0] ?? '')) this.#markAll(node);
      else if (named.size > 0 && VALUE_KEYS.has(lastName(names)) && named.has(parentTable(names))) this.#markAll(node);
      else this.visit(node, [...path, ...names]);
    }
  }

  #visitList(items: readonly ConfigTree<L>[], path: readonly string[]): void {
    const texts = items.map((item) => (item.kind === 'leaf' ? item.text : undefined));
    for (const { index, part } of secretArguments(texts, (name) => this.#isSecretName(name))) {
      const item = items[index];
      if (item?.kind === 'leaf') this.#options.onSecret(item.leaf, part);
    }
    for (const item of items) {
      // A header as a pair: ["Authorization", "Bearer ..."]. In a plain list such words are only names.
      const [name, value] = item.kind === 'list' && item.items.length === 2 ? item.items : [];
      if (name?.kind === 'leaf' && value && this.#isSecretName(name.text ?? '')) this.#markAll(value);
      else this.visit(item, path);
    }
  }

  #visitLeaf({ leaf, text }: TreeLeaf<L>, path: readonly string[]): void {
    const { secretKeys, onSecret } = this.#options;
    const part = isSecretKey(path, secretKeys) ? 'whole' : this.#findPart(path, text);
    if (part !== undefined) onSecret(leaf, part);
  }

  #findPart(path: readonly string[], text: string | undefined): 'whole' | TextRange | undefined {
    return text === undefined ? undefined : (findKeyMaterial(path, text) ?? this.#findVariable(path, text));
  }

  /** `NAME=value` among environment variables: all of the rest is the value, blanks included. */
  #findVariable(path: readonly string[], text: string): TextRange | undefined {
    if (!path.slice(-2).some((name) => splitWords(name).some((word) => ENVIRONMENT_WORDS.has(word)))) return undefined;
    const [head, quote = '', name = ''] = /^\s*(["']?)([\w.-]{1,128})=["']?/.exec(text) ?? [];
    if (head === undefined || !this.#isSecretName(name)) return undefined;
    const end = text.trimEnd().length;
    const isQuoted = /["']/.test(quote || (head.at(-1) ?? '')) && /["']/.test(text[end - 1] ?? '');
    return end > head.length ? { start: head.length, end: isQuoted ? end - 1 : end } : undefined;
  }

  #markAll(node: ConfigTree<L>): void {
    if (node.kind === 'table') for (const entry of node.entries) this.#markAll(entry.node);
    else if (node.kind === 'list') for (const item of node.items) this.#markAll(item);
    else this.#options.onSecret(node.leaf, 'whole');
  }

  #isSecretName(text: string): boolean {
    return /^[\w.-]{1,128}$/.test(text) && isSecretKey([text], this.#options.secretKeys);
  }
}

function lastName(names: readonly string[]): string {
  return names.at(-1)?.toLowerCase() ?? '';
}

function parentTable(names: readonly string[]): string {
  return names.slice(0, -1).join('\0');
}

/** What keys end with whose value is `user:password`. */
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
function findKeyMaterial(path: readonly string[], text: string): 'whole' | TextRange | undefined {
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

function userInfoPart(key: string, text: string): 'whole' | TextRange | undefined {
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
