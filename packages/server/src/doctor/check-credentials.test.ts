import { chmodSync } from 'node:fs';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { checkTls } from './check-credentials.ts';
import { runCheck } from './testing/run-check.ts';
import { selfSigned } from './testing/self-signed.ts';

const DAY_MS = 86_400_000;

test('nothing is checked without TLS', async () => {
  expect(await runCheck(checkTls)).toEqual([]);
});

test('a matching pair for this address with enough time left is fine', async () => {
  const tls = selfSigned(tempDir(), { days: 90 });
  expect(await runCheck(checkTls, { settings: { tls } })).toEqual([
    { state: 'ok', detail: 'key and certificate match, valid for 89 more days' },
    { state: 'ok', detail: 'the certificate is for DNS:localhost, IP Address:127.0.0.1' },
  ]);
});

test('the key of another certificate is a problem', async () => {
  const dir = tempDir();
  const { certFile } = selfSigned(dir);
  const { keyFile } = selfSigned(dir, { name: 'other' });
  const outcomes = await runCheck(checkTls, { settings: { tls: { certFile, keyFile } } });
  expect(outcomes).toMatchObject([{ state: 'problem', detail: expect.stringContaining('cannot be used together') }]);
});

test('a file that is missing is a problem', async () => {
  const { certFile } = selfSigned(tempDir());
  const outcomes = await runCheck(checkTls, { settings: { tls: { certFile, keyFile: 'absent' } } });
  expect(outcomes).toMatchObject([{ state: 'problem', detail: expect.stringMatching(/^tls\.key-file: .*ENOENT$/) }]);
});

test.each([
  [80, 'warning', /valid for 9 more days$/],
  [91, 'problem', /^the certificate expired on /],
  [-2, 'problem', /is not valid before /],
] as const)('%i days after it was made, a certificate for 90 days is a %s', async (days, state, detail) => {
  const tls = selfSigned(tempDir(), { days: 90 });
  const system = { nowMs: () => Date.now() + days * DAY_MS };
  const [outcome] = await runCheck(checkTls, { settings: { tls }, system });
  expect(outcome).toMatchObject({ state, detail: expect.stringMatching(detail) });
});

test('a certificate for other names is a warning', async () => {
  const tls = selfSigned(tempDir(), { days: 90, names: 'DNS:db.example.org' });
  const settings = { tls, node: { hostName: 'broker-1' } };
  expect(await runCheck(checkTls, { settings })).toMatchObject([
    { state: 'ok' },
    { state: 'warning', detail: 'the certificate is for DNS:db.example.org, not for broker-1 or 127.0.0.1' },
  ]);
});

test('client certificate authorities are checked too', async () => {
  const dir = tempDir();
  const tls = selfSigned(dir, { days: 90 });
  const { certFile: clientCaFile } = selfSigned(dir, { name: 'clients', days: 30 });
  const settings = { tls, auth: { clientCaFile, clientRoles: ['CN:a=viewer'] } };
  const fine = await runCheck(checkTls, { settings });
  expect(fine.at(-1)).toEqual({ state: 'ok', detail: `${clientCaFile} contains 1 client certificate authority` });
  const later = await runCheck(checkTls, { settings, system: { nowMs: () => Date.now() + 40 * DAY_MS } });
  expect(later.at(-1)).toMatchObject({ state: 'problem', detail: expect.stringContaining('1 of them expired') });
  const absent = { tls, auth: { clientCaFile: 'absent', clientRoles: ['CN:a=viewer'] } };
  expect(await runCheck(checkTls, { settings: absent })).toMatchObject([
    { state: 'problem', remedy: expect.stringContaining('auth.client-ca-file') },
  ]);
});

test('a world-readable key is a warning', async () => {
  const tls = selfSigned(tempDir(), { days: 90 });
  chmodSync(tls.keyFile, 0o644);
  const outcomes = await runCheck(checkTls, { settings: { tls } });
  expect(outcomes.at(-1)).toMatchObject({ state: 'warning', remedy: `chmod o-r ${tls.keyFile}` });
});
