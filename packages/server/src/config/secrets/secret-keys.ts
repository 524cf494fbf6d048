import { matchesPattern } from '@porthole/contract';

/** Stems so specific that they match inside a longer word too: `dbpassword`, `authtoken`, `secretsfile`. */
const STEMS = ['password', 'passwd', 'passphrase', 'credential', 'secret', 'token'];

/** What makes another word of a stem: tokenizer, tokenised, secretary, secretion. */
const OTHER_WORD = /^(?:iz|is|ary|ari|ion)/;

/**
 * What a name says of the values below it:
 * `none`: nothing; `one`: it names a secret, so that everything below is one unless it is named as something about it
 * (`[token] ttl`); `group`: it names a collection of secrets, each under a name of its own (`[secrets] db`).
 */
type Secrecy = 'none' | 'one' | 'group';

/**
 * Whether the value under this key path is a secret, by the names alone. `extra` holds patterns of further secret
 * keys, matched against the last key and the dotted path, also of the tables around it, ignoring case. In doubt the
 * answer is yes.
 */
export function isSecretKey(path: readonly string[], extra: readonly string[]): boolean {
  let inherits = false;
  for (const [index, name] of path.entries()) {
    const words = splitWords(name);
    const secrecy = isKeyOfTable(words, path.slice(0, index)) ? 'one' : classifyWords(words);
    const isLast = index === path.length - 1;
    // CouchDB: names and their passwords.
    if (!isLast && name === 'admins') return true;
    if (secrecy === 'group' || (isLast && secrecy === 'one')) return true;
    if (secrecy === 'one') inherits = true;
    else if (isQualified(words)) inherits = false;
  }
  return inherits || (extra.length > 0 && matchesExtra(path, extra));
}

function matchesExtra(path: readonly string[], extra: readonly string[]): boolean {
  const names = path.map((name) => name.toLowerCase());
  return names.some((name, index) => {
    const dotted = names.slice(0, index + 1).join('.');
    return extra.some((pattern) =>
      [name, dotted].some((candidate) => matchesPattern(candidate, pattern.toLowerCase())),
    );
  });
}

/** Digits part words like any other sign: `token2` is a token. Capitals part them as in `userAPIKey`. */
export function splitWords(name: string): string[] {
  return name
    .split(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

function classifyWords(words: readonly string[]): Secrecy {
  if (SECRET_REFERENCES.has(words.join(' '))) return 'none';
  for (let index = words.length - 1; index >= 0; index--) {
    const word = words[index] ?? '';
    const first = isSecretWord(word) ? index : isSecretPair(words[index - 1], word) ? index - 1 : -1;
    if (first < 0) continue;
    const rest = words.slice(index + 1);
    if (SECRET_PHRASES.has([...words.slice(first, index + 1), ...rest].join(' '))) return 'one';
    if (isQualified(rest) || COUNTING_WORDS.has(words[first - 1] ?? '')) return 'none';
    return isGroup(word) ? 'group' : 'one';
  }
  return 'none';
}

function isSecretPair(before: string | undefined, word: string): boolean {
  if (before === undefined) return false;
  if (word === 'key' || word === 'keys') return SECRET_KEY_KINDS.has(before);
  return SECRET_PHRASES.has(`${before} ${word}`);
}

function isSecretWord(word: string): boolean {
  if (SECRET_WORDS.has(word)) return true;
  if (word.endsWith('pass')) return !NOT_PASS.has(word);
  if (/(?:pwd|pw|connectionstring|community|authtok)$/.test(word)) return true;
  const kind = /keys?$/.exec(word);
  if (kind !== null && SECRET_KEY_KINDS.has(word.slice(0, kind.index))) return true;
  return STEMS.some((stem) => {
    const at = word.lastIndexOf(stem);
    if (at < 0) return false;
    const tail = word.slice(at + stem.length);
    return !QUALIFIERS.has(tail) && !QUALIFIERS.has(tail.replace(/^s/, '')) && !OTHER_WORD.test(tail);
  });
}

/** `[secret]` holds secrets under names as `[secrets]` does; `[password]` and `[token]` describe one. */
function isGroup(word: string): boolean {
  return word.endsWith('secret') || /^cred(?:ential)?$/.test(word) || /[^s]s$/.test(word);
}

function isQualified(words: readonly string[]): boolean {
  const last = words.at(-1);
  if (last === undefined) return false;
  if (words.at(-2) === 'public' && last.startsWith('key')) return true;
  return QUALIFIERS.has(last) || COUNTING_WORDS.has(words[0] ?? '');
}

function isKeyOfTable(words: readonly string[], tables: readonly string[]): boolean {
  const last = words.at(-1);
  if (tables.length === 0 || (last !== 'key' && last !== 'keys')) return false;
  if (words.length === 1 && SECRET_KEY_TABLES.has(splitWords(tables.at(-1) ?? '').at(-1) ?? '')) return true;
  return (words.length === 1 || WHICH_KEY.has(words.at(-2) ?? '')) && hasKeyTable(tables);
}

/** Whether one of the names is that of a table about keys: of encryption, signatures or sessions. */
export function hasKeyTable(path: readonly string[]): boolean {
  return path.some((name) => CRYPTO_TABLES.has(splitWords(name).at(-1) ?? ''));
}

/** Words that name a secret wherever they end a key. */
export const SECRET_WORDS: ReadonlySet<string> = new Set([
  ...['password', 'passwords', 'passwd', 'pwd', 'pass', 'passphrase', 'passcode', 'pw', 'requirepass', 'masterauth'],
  ...['secret', 'secrets', 'token', 'tokens', 'credential', 'credentials', 'cred', 'creds', 'authorization'],
  ...['cookie', 'cookies', 'setcookie', 'bearer', 'jwt', 'jwts', 'otp', 'totp', 'psk', 'salt', 'pepper', 'dsn', 'dsns'],
  // SNMP's password; a PIN of a token; the start of a key pair; a key exchanged before.
  ...['community', 'pin', 'pins', 'seed', 'mnemonic', 'hmac', 'htpasswd', 'kek', 'dek'],
]);

/** `<kind> key` is a secret; `key` alone, `public-key`, `primary-key` and `partition-key` are not. */
const SECRET_KEY_KINDS: ReadonlySet<string> = new Set([
  ...['api', 'access', 'secret', 'private', 'auth', 'authentication', 'encryption', 'encrypt', 'decryption', 'crypto'],
  ...['cipher', 'symmetric', 'aes', 'hmac', 'signing', 'sign', 'signature', 'master', 'root', 'account', 'shared'],
  ...['preshared', 'session', 'storage', 'service', 'ssh', 'license', 'licence', 'app', 'application', 'webhook'],
  ...['jwt', 'cookie', 'consumer', 'subscription', 'integration', 'ingest', 'ingestion', 'write', 'admin', 'deploy'],
  ...[
    'unseal',
    'recovery',
    'instrumentation',
    'fernet',
    'tsig',
    'rndc',
    'csrf',
    'gossip',
    'function',
    'sas',
    'wep',
    'validation',
    'upgrade',
    'nonce',
    'wireless',
    'digest',
  ],
  ...['cloak'],
]);

/** Tables in which a bare `key` is that kind of key: `[encryption] key = ...`. Narrower: `[storage] key` may be a name. */
const SECRET_KEY_TABLES: ReadonlySet<string> = new Set([
  ...['api', 'access', 'secret', 'private', 'auth', 'authentication', 'license', 'licence', 'webhook'],
]);

/** The same, also for tables further above and for `<which> key`: `[encryption.at_rest] data_key`. */
const CRYPTO_TABLES: ReadonlySet<string> = new Set([
  ...['encryption', 'crypto', 'cryptography', 'cipher', 'hmac', 'signing', 'signer', 'signature', 'jwt'],
  ...['session', 'sessions', 'cookie', 'cookies', 'csrf'],
]);

/** Words that say which of the keys of such a table it is. */
const WHICH_KEY: ReadonlySet<string> = new Set([
  ...['primary', 'secondary', 'current', 'previous', 'old', 'new', 'active', 'next', 'main', 'default', 'first'],
  ...['second', 'data', 'hash', 'block', 'first', 'base', 'kek', 'dek', 'rotation', 'local', 'server', 'client'],
]);

/** A secret word followed by one of these names something about the secret: where it is, how long it lives, its form. */
const QUALIFIERS: ReadonlySet<string> = new Set([
  ...['file', 'files', 'filename', 'path', 'paths', 'dir', 'directory', 'folder', 'env', 'command', 'cmd', 'script'],
  ...['ttl', 'expiry', 'expires', 'expiration', 'expire', 'exp', 'lifetime', 'duration', 'timeout', 'age', 'interval'],
  ...['period', 'seconds', 'secs', 'sec', 'ms', 'millis', 'minutes', 'hours', 'days', 'leeway', 'skew', 'window'],
  ...['length', 'len', 'size', 'count', 'min', 'max', 'limit', 'limits', 'num', 'number', 'bytes', 'bits', 'rounds'],
  ...['cost', 'iterations', 'retries', 'attempts', 'rate', 'ratio', 'history', 'strength', 'complexity', 'usage'],
  ...[
    'type',
    'kind',
    'mode',
    'format',
    'encoding',
    'algorithm',
    'alg',
    'algo',
    'method',
    'policy',
    'version',
    'scheme',
    'attribute',
    'attr',
    'column',
    'ref',
    'reference',
    'protocol',
    'arn',
    'identity',
    'encryption',
  ],
  ...['minute', 'second', 'hour', 'day', 'per'],
  ...['provider', 'providers', 'manager', 'store', 'backend', 'engine', 'service', 'server', 'cache', 'bucket'],
  ...[
    'enabled',
    'enable',
    'disabled',
    'disable',
    'required',
    'require',
    'optional',
    'rotation',
    'renewal',
    'validation',
  ],
  ...[
    'name',
    'names',
    'header',
    'headers',
    'field',
    'prefix',
    'suffix',
    'label',
    'description',
    'hint',
    'prompt',
    'id',
  ],
  ...[
    'ids',
    'url',
    'uri',
    'endpoint',
    'host',
    'hosts',
    'region',
    'zone',
    'port',
    'address',
    'addr',
    'issuer',
    'audience',
    'domain',
  ],
  ...['scope', 'scopes', 'role', 'roles', 'user', 'username', 'source', 'through', 'samesite', 'secure', 'httponly'],
]);

/** Before a secret word they make it a count: `max-tokens`. */
const COUNTING_WORDS: ReadonlySet<string> = new Set(['max', 'min', 'maximum', 'minimum', 'num', 'total']);

/** Qualified, and secret all the same. */
const SECRET_PHRASES: ReadonlySet<string> = new Set([
  ...['access key id', 'secret id', 'connection string', 'conn string', 'conn str', 'connection str', 'webhook url'],
  ...['access signature', 'honeycomb team', 'recovery code', 'recovery codes', 'backup code', 'backup codes'],
  ...['access code', 'auth code', 'authorization code', 'verification code', 'activation code'],
  // JBoss; WordPress's LOGGED_IN_KEY; Kubernetes; network devices
  ...['clear text', 'in key', 'key data', 'key string'],
]);

/** Lists of names under which secrets are kept elsewhere. */
const SECRET_REFERENCES: ReadonlySet<string> = new Set(['image pull secret', 'image pull secrets']);

/** Ordinary words that end like `pass`. */
const NOT_PASS: ReadonlySet<string> = new Set([
  ...['compass', 'bypass', 'encompass', 'trespass', 'surpass', 'underpass', 'overpass', 'multipass', 'singlepass'],
  ...['lowpass', 'highpass', 'bandpass', 'allpass'],
]);
