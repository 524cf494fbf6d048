/** Words that name a secret wherever they end a key. */
export const SECRET_WORDS: ReadonlySet<string> = new Set([
  ...['password', 'passwords', 'passwd', 'pwd', 'pass', 'passphrase', 'passcode', 'pw', 'requirepass', 'masterauth'],
  ...['secret', 'secrets', 'token', 'tokens', 'credential', 'credentials', 'cred', 'creds', 'authorization'],
  ...['cookie', 'cookies', 'bearer', 'jwt', 'jwts', 'otp', 'totp', 'psk', 'salt', 'pepper', 'dsn', 'dsns'],
]);

/** `<kind> key` is a secret; `key` alone, `public-key`, `primary-key` and `partition-key` are not. */
export const SECRET_KEY_KINDS: ReadonlySet<string> = new Set([
  ...['api', 'access', 'secret', 'private', 'auth', 'authentication', 'encryption', 'encrypt', 'decryption', 'crypto'],
  ...['cipher', 'symmetric', 'aes', 'hmac', 'signing', 'sign', 'signature', 'master', 'root', 'account', 'shared'],
  ...['preshared', 'session', 'storage', 'service', 'ssh', 'license', 'licence', 'app', 'application', 'webhook'],
  ...['jwt', 'cookie', 'consumer', 'subscription', 'integration', 'ingest', 'ingestion', 'write', 'admin', 'deploy'],
]);

/** Tables in which a bare `key` is that kind of key: `[encryption] key = ...`. Narrower: `[storage] key` may be a name. */
export const SECRET_KEY_TABLES: ReadonlySet<string> = new Set([
  ...['api', 'access', 'secret', 'private', 'auth', 'authentication', 'encryption', 'crypto', 'hmac', 'signing'],
  ...['jwt', 'license', 'licence', 'webhook'],
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
  ],
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
]);

/** Ordinary words that end like `pass`. */
export const NOT_PASS: ReadonlySet<string> = new Set([
  ...['compass', 'bypass', 'encompass', 'trespass', 'surpass', 'underpass', 'overpass', 'multipass', 'singlepass'],
  ...['lowpass', 'highpass', 'bandpass', 'allpass'],
]);
