import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLoopbackHost } from './find-conflicts.ts';
import { SettingsDir } from './testing/settings-dir.ts';

let dir: SettingsDir;
beforeAll(async () => {
  dir = await SettingsDir.create();
});
afterAll(() => dir.remove());

const JWT =
  'jwks-url = "https://id.example.org/keys"\njwt-issuer = "i"\njwt-audience = "a"\njwt-roles = ["ops=viewer"]';
const TLS = '[tls]\ncert-file = "c"\nkey-file = "k"';

test.each([
  [`[auth]\n${JWT}`],
  [`[auth]\nclient-ca-file = "ca"\nclient-roles = ["CN:*=viewer"]\n${TLS}`],
  [`[auth]\ntoken-file = "t"\n${JWT}\nclient-ca-file = "ca"\nclient-roles = ["CN:*=viewer"]\n${TLS}`],
  [`[http]\nhost = "0.0.0.0"\n[auth]\n${JWT}`],
  [`[http]\nhost = "0.0.0.0"\n[auth]\nclient-ca-file = "ca"\nclient-roles = ["CN:*=viewer"]\n${TLS}`],
])('these go together:\n%s', async (text) => {
  await expect(dir.loadText(text)).resolves.toBeDefined();
});

test.each([
  [`${JWT}\njwks-file = "f"`, 'auth.jwks-url and auth.jwks-file both say where the keys are - set one of them'],
  [JWT.replace('"i"', '""'), 'auth.jwt-issuer is empty: '],
  [JWT.replace('"a"', '""'), 'auth.jwt-audience is empty: '],
  [JWT.replace('["ops=viewer"]', '[]'), 'auth.jwt-roles is empty: '],
  [`${JWT}\njwt-algorithms = []`, 'auth.jwt-algorithms is empty: '],
  [JWT.replace('https:', 'ftp:'), '"ftp://id.example.org/keys" is not a URL'],
  [`${JWT}\njwt-algorithms = ["HS256"]`, '"HS256" is not a signature algorithm with a public key'],
  [`${JWT}\njwt-algorithms = ["none"]`, '"none" is not a signature algorithm with a public key'],
  [JWT.replace('=viewer', '=root'), '"ops=root" is not a role rule'],
  ['jwt-roles = ["ops=viewer"]', 'set auth.jwks-url or auth.jwks-file'],
  ['client-roles = ["CN:a=viewer"]', 'set auth.client-ca-file as well'],
  ['client-ca-file = "ca"\nclient-roles = ["CN:a=viewer"]', 'set tls.cert-file and tls.key-file as well'],
  ['[http]\nsocket = "s"\n[cluster]\netcd = ["http://a"]', 'other members cannot reach a Unix socket'],
  [`client-ca-file = "ca"\n${TLS}`, 'set auth.client-roles to rules like "CN:ops-*=viewer"'],
])('refused, with the way out:\n%s', async (text, message) => {
  await expect(dir.loadText(`[auth]\n${text}`)).rejects.toThrow(message);
});

test('a certificate for members needs its key', async () => {
  await expect(dir.loadText('[cluster]\ncert-file = "c"')).rejects.toThrow(
    'cluster.cert-file is set but cluster.key-file is not - set both or none',
  );
});

test.each([
  ['"zone=a", "zone=b"', 'two values for one name'],
  [Array.from({ length: 9 }, (_, at) => `"n${at}=${'x'.repeat(64)}"`).join(), 'more than 512 characters'],
])('labels: %s', async (labels, message) => {
  await expect(dir.loadText(`[node]\nlabels = [${labels}]`)).rejects.toThrow(message);
});

test.each([
  '127.0.0.1',
  '127.9.8.7',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  'localhost',
  'LOCALHOST',
  'localhost.',
])('%s is reached from this machine only', (host) => {
  expect(isLoopbackHost(host)).toBe(true);
});

test.each([
  '0.0.0.0',
  '::',
  '10.0.0.7',
  '128.0.0.1',
  'fe80::1',
  '::ffff:10.0.0.7',
  'db-7',
  'localhost.example.org',
  '',
])('%j may be reached from elsewhere', (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});
