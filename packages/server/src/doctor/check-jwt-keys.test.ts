import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { AUDIENCE, createSigner, ISSUER, toKeySet } from '../auth/testing/jwt-maker.ts';
import { freePorts } from '../testing/free-ports.ts';
import { checkJwtKeys } from './check-credentials.ts';
import { runCheck } from './testing/run-check.ts';

const rules = { jwtIssuer: ISSUER, jwtAudience: AUDIENCE, jwtRoles: ['ops=viewer'] };

function checkFile(text: string) {
  const dir = tempDir();
  writeFileSync(join(dir, 'keys.json'), text);
  return runCheck(checkJwtKeys, { dir, settings: { auth: { ...rules, jwksFile: 'keys.json' } } });
}

test('nothing is checked without JWTs', async () => {
  expect(await runCheck(checkJwtKeys)).toEqual([]);
});

test('a file of keys is fine', async () => {
  const outcomes = await checkFile(JSON.stringify(toKeySet(createSigner('a'), createSigner('b'))));
  expect(outcomes).toMatchObject([{ state: 'ok', detail: expect.stringMatching(/keys\.json has 2 public keys$/) }]);
});

test.each(['', '{"keys":[]}', '{"keys":[{"kty":"oct","k":"AAAA"}]}'])('a file with %j is a problem', async (text) => {
  expect(await checkFile(text)).toMatchObject([
    { state: 'problem', detail: expect.stringMatching(/^auth\.jwks-file: /), remedy: expect.stringContaining('JWKS') },
  ]);
});

test('an address that does not respond is a problem', async () => {
  const [port] = await freePorts(1);
  const settings = { auth: { ...rules, jwksUrl: `http://127.0.0.1:${port}/keys` } };
  expect(await runCheck(checkJwtKeys, { settings })).toMatchObject([
    { state: 'problem', detail: expect.stringMatching(/^auth\.jwks-url: /) },
  ]);
});
