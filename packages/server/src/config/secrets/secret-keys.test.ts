import { describe, expect, it } from 'vitest';
import { isSecretKey } from './secret-keys.ts';

describe('a key is secret', () => {
  it.each([
    ...['password', 'PASSWORD', 'Password', 'passwd', 'pwd', 'pass', 'pw', 'passphrase', 'pass-phrase', 'passcode'],
    ...[
      'db-password',
      'db_password',
      'dbPassword',
      'DBPassword',
      'DB_PASSWORD',
      'dbpassword',
      'user password',
      'password2',
    ],
    ...['secret', 'client-secret', 'clientSecret', 'secret-key', 'secretKey', 'secretkey', 'aws_secret_access_key'],
    ...['token', 'tokens', 'authToken', 'auth_token', 'refresh-token', 'x-auth-token', 'authtoken', 'JWTToken'],
    ...['api-key', 'apikey', 'api_key', 'apiKey', 'APIKey', 'API_KEYS', 'access-key', 'access-key-id', 'private-key'],
    ...['auth-key', 'encryption-key', 'signingKey', 'master-key', 'AccountKey', 'SharedAccessKey', 'license-key'],
    ...['secret-keys', 'secretKeys', 'secret_keys', 'unseal-keys', 'community', 'pin', 'hmac'],
    ...['credential', 'credentials', 'creds', 'salt', 'cookie', 'bearer', 'jwt', 'dsn', 'connection-string'],
    ...['connectionString', 'authorization', 'password-hash', 'requirepass', 'masterauth', 'bindpw', 'dbpass', 'psk'],
    ...['secret-id', 'token-secret', 'webhook-url', 'passwordvalue', 'pass.word', 'client.secret', 'token_file_token'],
  ])('by its name: %s', (key) => {
    expect(isSecretKey([key], [])).toBe(true);
    expect(isSecretKey(['server', key], [])).toBe(true);
  });

  it.each([
    [['api', 'key']],
    [['encryption', 'key']],
    [['encryption', 'key', 'value']],
    [['session', 'key']],
    [['signing', 'keys', 'current']],
    [['encryption', 'at_rest', 'data_key']],
    [['sessions', 'cookie', 'hash-key']],
    [['secrets', 'mysql']],
    [['secrets', 'file']],
    [['credentials', 'db', 'host']],
    [['auth', 'tokens', 'ci', 'ttl']],
    [['token', 'value']],
    [['a', 'password', 'current']],
  ])('by the names around it: %j', (path) => {
    expect(isSecretKey(path, [])).toBe(true);
  });
});

describe('a key is not secret', () => {
  it.each([
    ...[
      'password-file',
      'passwordFile',
      'passwordfile',
      'token-file',
      'key-file',
      'cert-file',
      'key-path',
      'secrets-dir',
    ],
    ...['token-ttl', 'tokenTTL', 'token-ttl-seconds', 'max-tokens', 'maxTokens', 'token-count', 'password-min-length'],
    ...['passthrough', 'pass-through', 'compass', 'bypass', 'encompass', 'tokenizer', 'tokenized', 'secretary'],
    ...['public-key', 'primary-key', 'partition-key', 'key', 'keys'],
    ...[
      'password-policy',
      'token-bucket',
      'credentials-provider',
      'secret-name',
      'cookie-name',
      'key-id',
      'salt-length',
    ],
    ...['signing-public-key', 'auth', 'auth-enabled', 'username', 'host', 'url', '', '...', 'пароль-файл', 'keyspace'],
  ])('by its name: %s', (key) => {
    expect(isSecretKey([key], [])).toBe(false);
  });

  it.each([
    [['token', 'ttl']],
    [['password', 'policy', 'rule']],
    [['row', 'key']],
    [['imagePullSecrets']],
    [['valueFrom', 'secretKeyRef', 'key']],
    [['table', 'hash_key']],
    [['jwt', 'issuer']],
    [[]],
  ])('by the names around it: %j', (path) => {
    expect(isSecretKey(path, [])).toBe(false);
  });
});

describe('further patterns', () => {
  it.each<[string[], string, boolean]>([
    [['a', 'motto'], 'MOTTO', true],
    [['a', 'motto'], 'mot', false],
    [['a', 'motto'], 'mot*', true],
    [['a', 'motto'], '*tt*', true],
    [['a', 'motto'], '*', true],
    [['a', 'motto'], '', false],
    [['a', 'b', 'c'], 'a.b.c', true],
    [['a', 'b', 'c'], 'a.*.c', true],
    [['a', 'b', 'c'], 'a.b', true],
    [['a', 'b', 'c'], 'b.c', false],
    [['a', 'b', 'c'], '*b.c', true],
    [['aba'], 'ab*ba', false],
    [['abxba'], 'ab*x*ba', true],
    [['a.c'], 'a?c', true],
    [['a.c'], 'a?', false],
  ])('%j by %s: %s', (path, pattern, expected) => {
    expect(isSecretKey(path, [pattern])).toBe(expected);
  });
});
