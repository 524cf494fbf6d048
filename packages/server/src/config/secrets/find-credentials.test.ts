import { describe, expect, it } from 'vitest';
import { redactText } from '../testing/redact-text.ts';
import { unmark } from '../testing/redaction-corpus.ts';

describe('credentials within a text are masked', () => {
  it.each([
    'postgres://bob:«pw»@host:5432/db',
    'redis://:«pw»@host:6379',
    'mongodb://bob:«p%40w»@h1:27017,h2:27017/db?replicaSet=x',
    'http://u:«a»@h1, http://u:«b»@h2;http://u:«c»@h3',
    'see "http://u:«a`b»@h" and \'http://u:«c»@h\'',
    'https://«ghp_12345»@github.com/x',
    'https://«key»:@api.example/v1',
    'https://«key»:x-oauth-basic@github.com',
    'amqp://u:«p/w»@h/v',
    'amqp://u:«p@w?x»@h/v',
    'http://u:«pw»@h/?mail=a@b.org',
    'http://h/?password=«a»&token=«b»&x=y#f',
    'http://h/?x=y&api_key=«b»',
    'host=x password=«pw» dbname=y',
    "host=x password='«p w»' dbname=y",
    'password=«p,w» host=x',
    'Server=x;Pwd=«p w»;Encrypt=yes',
    'Password=«p w»;Server=x',
    'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=«x/y+z==»;EndpointSuffix=core',
    'Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=«abc=»',
    'bob:«pw»@tcp(host:3306)/db',
    'bob:«p w:x@y»@unix(/tmp/s)/db',
    'bob:«pw»@host:5432/db',
    'jdbc:postgresql://h/db?user=u&password=«pw»',
    'jdbc:sqlserver://h;user=u;password=«pw»;encrypt=true',
    'Authorization: Bearer «xyz»',
    'authorization: «xyz»',
    'curl -H "Authorization: Basic «abc=»" http://h',
    'Cookie: «a=b; c=d»',
    'Bearer «xyz»',
    'use bearer «eyJhbGciOiJIUzI1NiJ9.e30.abc»',
    '{"user":"bob","password":"«pw»","token": "«t»"}',
    'run --password «pw» --token=«t» --password-file /x -v',
    'password: «pw»',
    'password:«pw»',
    '-----BEGIN PRIVATE KEY-----«\nabc\n»-----END PRIVATE KEY-----\n-----BEGIN OPENSSH PRIVATE KEY-----« abc»',
  ])('%s', (marked) => {
    const { toml: text, redacted } = unmark(marked);
    expect(redactText(text)).toBe(redacted);
    expect(redactText(redacted)).toBe(redacted);
  });
});

describe('what is no credential stays', () => {
  it.each([
    'http://host:8080/path@v2?email=a@b.org',
    'ssh://git@host/x',
    'postgres://bob@host/db',
    'git@github.com:org/repo.git',
    'mailto:a@b.org',
    'image: repo/name:tag@sha256:0123',
    'secrets:read token:write',
    'Basic auth, bearer token',
    'token-ttl=1h max_tokens=5 password=true',
    'password= ',
    'at 10:30 the host=x',
    '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----',
  ])('%s', (text) => {
    expect(redactText(text)).toBe(text);
  });
});

it('names given as further secret keys count within a text as well', () => {
  expect(redactText('http://h/?motto=abc&x=y', { secretKeys: ['motto'] })).toBe('http://h/?motto=******&x=y');
});

describe('the time grows with the length, not faster, for', () => {
  it.each([
    ...[
      '@',
      'a:b@',
      '://',
      'a://',
      '=',
      'a=',
      'password=',
      'password="',
      'password: ',
      ' ',
      '--password ',
      'bearer x ',
    ],
    ...[
      '-----BEGIN PRIVATE KEY-----',
      '@a(',
      ':@tcp(',
      'a a=',
      ';Account Key=',
      '"',
      '\\"',
      'x:',
      'A',
      '\t',
      'password=a;',
    ],
  ])('%j repeated', (unit) => {
    const text = unit.repeat(Math.floor(200_000 / unit.length));
    // Half a second on a slow machine; a quadratic search takes minutes, and the test would time out.
    expect(redactText(text).length).toBeGreaterThan(0);
  });
});
