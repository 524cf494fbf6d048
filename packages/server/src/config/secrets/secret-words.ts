/** Words that name a secret wherever they end a key. */
export const SECRET_WORDS: ReadonlySet<string> = new Set([
  ...['password', 'passwords', 'passwd', 'pwd', 'pass', 'passphrase', 'passcode', 'pw', 'requirepass', 'masterauth'],
  ...['secret', 'secrets', 'token', 'tokens', 'credential', 'credentials', 'cred', 'creds', 'authorization'],
  ...['cookie', 'cookies', 'bearer', 'jwt', 'jwts', 'otp', 'totp', 'psk', 'salt', 'pepper', 'dsn', 'dsns'],
  // SNMP's password; a PIN of a token; the start of a key pair; a key exchanged before.
  ...['community', 'pin', 'pins', 'seed', 'mnemonic', 'hmac', 'htpasswd', 'kek', 'dek'],
]);

/** `<kind> key` is a secret; `key` alone, `public-key`, `primary-key` and `partition-key` are not. */
export const SECRET_KEY_KINDS: ReadonlySet<string> = new Set([
  ...['api', 'access', 'secret', 'private', 'auth', 'authentication', 'encryption', 'encrypt', 'decryption', 'crypto'],
  ...['cipher', 'symmetric', 'aes', 'hmac', 'signing', 'sign', 'signature', 'master', 'root', 'account', 'shared'],
  ...['preshared', 'session', 'storage', 'service', 'ssh', 'license', 'licence', 'app', 'application', 'webhook'],
  ...['jwt', 'cookie', 'consumer', 'subscription', 'integration', 'ingest', 'ingestion', 'write', 'admin', 'deploy'],
  ...['unseal', 'recovery', 'instrumentation', 'fernet', 'tsig', 'rndc', 'csrf', 'gossip', 'function', 'sas'],
]);

/** Tables in which a bare `key` is that kind of key: `[encryption] key = ...`. Narrower: `[storage] key` may be a name. */
export const SECRET_KEY_TABLES: ReadonlySet<string> = new Set([
  ...['api', 'access', 'secret', 'private', 'auth', 'authentication', 'license', 'licence', 'webhook'],
]);

/** The same, also for tables further above and for `<which> key`: `[encryption.at_rest] data_key`. */
export const CRYPTO_TABLES: ReadonlySet<string> = new Set([
  ...['encryption', 'crypto', 'cryptography', 'cipher', 'hmac', 'signing', 'signer', 'signature', 'jwt'],
  ...['session', 'sessions', 'cookie', 'cookies', 'csrf'],
]);

/** Words that say which of the keys of such a table it is. */
export const WHICH_KEY: ReadonlySet<string> = new Set([
  ...['primary', 'secondary', 'current', 'previous', 'old', 'new', 'active', 'next', 'main', 'default', 'first'],
  ...['second', 'data', 'hash', 'block', 'first', 'base', 'kek', 'dek', 'rotation', 'local', 'server', 'client'],
]);

/** A secret word followed by one of these names something about the secret: where it is, how long it lives, its form. */
export const QUALIFIERS: ReadonlySet<string> = new Set([
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
export const COUNTING_WORDS: ReadonlySet<string> = new Set(['max', 'min', 'maximum', 'minimum', 'num', 'total']);

/** Qualified, and secret all the same. */
export const SECRET_PHRASES: ReadonlySet<string> = new Set([
  ...['access key id', 'secret id', 'connection string', 'conn string', 'conn str', 'connection str', 'webhook url'],
  ...['access signature', 'honeycomb team', 'recovery code', 'recovery codes', 'backup code', 'backup codes'],
  ...['access code', 'auth code', 'authorization code', 'verification code', 'activation code'],
]);

/** Lists of names under which secrets are kept elsewhere. */
export const SECRET_REFERENCES: ReadonlySet<string> = new Set(['image pull secret', 'image pull secrets']);

/** Ordinary words that end like `pass`. */
export const NOT_PASS: ReadonlySet<string> = new Set([
  ...['compass', 'bypass', 'encompass', 'trespass', 'surpass', 'underpass', 'overpass', 'multipass', 'singlepass'],
  ...['lowpass', 'highpass', 'bandpass', 'allpass'],
]);
