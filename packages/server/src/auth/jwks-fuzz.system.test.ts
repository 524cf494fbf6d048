import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';
import { Access, createFailureLimit } from './access.ts';
import { JwtCheck } from './jwt-check.ts';
import { readKeyFile } from './jwt-keys.ts';
import { AUDIENCE, createSigner, ISSUER, signJwt, toKeySet } from './testing/jwt-maker.ts';

const good = createSigner('good');
const [goodKey] = toKeySet(good).keys;
const short = { kid: 'short', alg: 'RS256', ...generateKeyPairSync('rsa', { modulusLength: 2048 }) };
const shortKey = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });

/** Keys of which a provider may have some, and the library none. */
const UNUSABLE: readonly [string, object][] = [
  ['too short', { ...shortKey, kid: 'short', alg: 'RS256' }],
  ['without its numbers', { kty: 'RSA', kid: 'short', alg: 'RS256' }],
  ['of numbers that are none', { kty: 'RSA', kid: 'short', alg: 'RS256', n: '!!', e: 'AQAB' }],
  ['off its curve', { kty: 'EC', kid: 'short', crv: 'P-256', x: 'AAAA', y: 'AAAA' }],
  ['of a curve nobody knows', { kty: 'EC', kid: 'short', crv: 'P-999', x: 'AAAA', y: 'AAAA' }],
  ['of a type nobody knows', { kty: 'XYZ', kid: 'short' }],
  ['that is private', { ...good.privateKey.export({ format: 'jwk' }), kid: 'short', alg: 'ES256' }],
  ['for signing only', { ...goodKey, kid: 'short', key_ops: ['sign'] }],
];

const createSettings = (jwksFile: string, more: object = {}) => ({
  auth: {
    jwksFile,
    jwtIssuer: ISSUER,
    jwtAudience: AUDIENCE,
    jwtRoles: ['ops=viewer'],
    jwtAlgorithms: ['ES256', 'RS256', 'EdDSA'],
    ...more,
  },
});

async function readStatus(port: number, token: string): Promise<number> {
  return (await sendRequest(port, '/api/v1/log/list', { headers: { authorization: `Bearer ${token}` } })).status;
}

describe('a key that cannot be used', () => {
  it.each(UNUSABLE)('%s is left out with a warning, and the others still count', async (_, key) => {
    const jwksFile = join(tempDir(), 'keys.json');
    writeFileSync(jwksFile, JSON.stringify({ keys: [key, goodKey] }));
    const { port, dir } = await startTestNode({ settings: createSettings(jwksFile) });
    expect(await readStatus(port, await signJwt(good))).toBe(200);
    expect(await readStatus(port, await signJwt(short))).toBe(401);
    await eventually(() => {
      expect(readFileSync(join(dir, 'own', 'porthole.log'), 'utf8')).toContain('ignoring unusable JWT keys');
    });
  });

  it('does not fetch endlessly: a JWT that names it counts as a failure', async () => {
    const jwksFile = join(tempDir(), 'keys.json');
    writeFileSync(jwksFile, JSON.stringify({ keys: [UNUSABLE[0]?.[1], goodKey] }));
    const { port } = await startTestNode({ settings: createSettings(jwksFile, { maxFailuresPerMinute: 3 }) });
    const statuses: number[] = [];
    for (let count = 0; count < 5; count++) statuses.push(await readStatus(port, await signJwt(short)));
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
  });
});

describe('whatever goes wrong while credentials are checked', () => {
  const failing = () => {
    throw new TypeError('nobody thought of this');
  };
  const credentials = { authorization: 'Bearer aaa.bbb.ccc', socket: undefined, address: '10.0.0.1' };

  it.each([
    ['at once', { tokens: failing }],
    [
      'later',
      {
        jwt: new JwtCheck({
          keys: { current: async () => failing(), renew: async () => failing(), usableUntilMs: 0 },
          ...{ issuer: ISSUER, audience: AUDIENCE, algorithms: ['ES256'], clockToleranceMs: 0 },
          ...{ nameClaim: 'sub', rolesClaim: 'groups', roles: [] },
        }),
      },
    ],
  ])('%s is a refusal that counts', async (_, parts) => {
    const errors: unknown[] = [];
    const access = new Access({
      ...parts,
      countFailure: createFailureLimit(1),
      onError: (error) => errors.push(error),
    });
    const authorize = async () =>
      access.authorize(await access.authenticate(credentials), 'viewer', { credentials: credentials, where: 'x' });
    await expect(authorize()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(authorize()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(errors).toHaveLength(2);
  });
});

it('a set of keys of any kind is refused or used, and no JWT gets a 5xx', async () => {
  const path = join(tempDir(), 'keys.json');
  const field = fc.oneof(
    fc.string(),
    fc.constantFrom(
      'RSA',
      'EC',
      'OKP',
      'oct',
      'AKP',
      'P-256',
      'Ed25519',
      'X25519',
      'RS256',
      'ES256',
      'EdDSA',
      'AQAB',
      'sig',
      'enc',
      'good',
    ),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const names = fc.constantFrom(
    'kty',
    'kid',
    'alg',
    'crv',
    'x',
    'y',
    'n',
    'e',
    'd',
    'k',
    'use',
    'key_ops',
    'ext',
    'x5c',
    '__proto__',
  );
  const key = fc.dictionary(names, field, { maxKeys: 8 }).map((fields) => ({ kty: 'RSA', ...fields }));
  const likeGood = fc.dictionary(names, field, { maxKeys: 2 }).map((fields) => ({ ...goodKey, ...fields }));
  const document = fc.oneof(
    fc.jsonValue(),
    fc.array(fc.oneof(key, likeGood, fc.constant(goodKey)), { maxLength: 4 }).map((keys) => ({ keys })),
  );
  const tokens = await Promise.all([signJwt(good), signJwt(short), signJwt({ ...good, kid: undefined as never })]);
  let current = await readyAccess();
  await fc.assert(
    fc.asyncProperty(document, async (value) => {
      writeFileSync(path, JSON.stringify(value));
      current = await readyAccess();
      for (const token of tokens) {
        const verdict = await current.authenticate({
          authorization: `Bearer ${token}`,
          socket: undefined,
          address: '',
        });
        if ('identity' in verdict) expect(verdict.identity.name).toBe('ann');
        else
          expect(() =>
            current.authorize(verdict, 'viewer', {
              credentials: { authorization: '', socket: undefined, address: '' },
              where: '',
            }),
          ).toThrowError(expect.objectContaining({ code: 'UNAUTHENTICATED' }));
      }
    }),
    { numRuns: runs(150) },
  );

  async function readyAccess(): Promise<Access> {
    const keys = await readKeyFile(path).catch((error: unknown) => {
      expect(error).toBeInstanceOf(Error);
      return undefined;
    });
    const source = { current: async () => keys, renew: async () => keys, usableUntilMs: Number.POSITIVE_INFINITY };
    return new Access({
      jwt: new JwtCheck({
        ...{ keys: source, issuer: ISSUER, audience: AUDIENCE, algorithms: ['ES256', 'RS256', 'EdDSA'] },
        ...{ clockToleranceMs: 0, nameClaim: 'sub', rolesClaim: 'groups', roles: ['ops=viewer'] },
      }),
      countFailure: () => {},
      onError: (error) => {
        throw error;
      },
    });
  }
});
