import { createHmac } from 'node:crypto';
import type { JSONWebKeySet } from 'jose';
import { describe, expect, it } from 'vitest';
import { claimValues, JwtCheck, type KeySource } from './jwt-check.ts';
import { AUDIENCE, createSigner, ISSUER, signJwt, toKeySet } from './testing/jwt-maker.ts';
import { hashSecret } from './tokens.ts';

const signer = createSigner('key-1');
const stranger = createSigner('key-1');
const NOW_MS: number = 1_800_000_000_000;

function fixedKeys(keys: JSONWebKeySet): KeySource {
  return { current: async () => keys, renew: async () => keys, usableUntilMs: Number.POSITIVE_INFINITY };
}

function createCheck({ keys = fixedKeys(toKeySet(signer)), now = () => NOW_MS, algorithms = ['ES256'] } = {}) {
  return new JwtCheck({
    keys,
    issuer: ISSUER,
    audience: AUDIENCE,
    algorithms,
    clockToleranceMs: 30_000,
    nameClaim: 'sub',
    rolesClaim: 'groups',
    roles: ['ops=viewer', 'ops-admins=admin', 'team-*=viewer+config'],
    now,
    running: now,
  });
}

const check = (jwt: JwtCheck, token: string) => jwt.check(token, hashSecret(token));
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const good = { iss: ISSUER, aud: AUDIENCE, sub: 'ann', exp: NOW_MS / 1000 + 300, groups: ['ops-admins'] };
const NOT_KNOWN = { refusal: 'the token is not known to this node' };

describe('a JWT that is good', () => {
  it.each([
    [['ops'], ['viewer']],
    ['ops', ['viewer']],
    [
      ['team-a', 'ops-admins', 7, null],
      ['viewer', 'config', 'admin'],
    ],
    [['other'], []],
    [undefined, []],
    [{ ops: true }, []],
  ])('with the groups %j has the roles %j', async (groups, roles) => {
    const token = await signJwt(signer, { nowMs: NOW_MS, groups });
    expect(await check(createCheck(), token)).toEqual({ identity: { name: 'ann', kind: 'jwt', roles } });
  });

  it.each(['RS256', 'EdDSA'] as const)('may be signed with %s', async (alg) => {
    const other = createSigner('key-2', alg);
    const jwt = createCheck({ keys: fixedKeys(toKeySet(signer, other)), algorithms: ['ES256', alg] });
    expect(await check(jwt, await signJwt(other, { nowMs: NOW_MS }))).toHaveProperty('identity');
  });

  it('is remembered until it ends, and not longer', async () => {
    let nowMs = NOW_MS;
    const jwt = createCheck({ now: () => nowMs });
    const token = await signJwt(signer, { nowMs, exp: NOW_MS / 1000 + 60 });
    expect(jwt.known(hashSecret(token))).toBeUndefined();
    await check(jwt, token);
    expect(jwt.known(hashSecret(token))?.name).toBe('ann');
    nowMs += 89_000; // within the tolerance
    expect(jwt.known(hashSecret(token))?.name).toBe('ann');
    nowMs += 2_000;
    expect(jwt.known(hashSecret(token))).toBeUndefined();
    expect(await check(jwt, token)).toEqual({ refusal: 'the token has expired' });
  });

  it('is forgotten when the keys are others', async () => {
    let keys = toKeySet(signer);
    const source: KeySource = { ...fixedKeys(keys), current: async () => keys, renew: async () => keys };
    const jwt = createCheck({ keys: source });
    const token = await signJwt(signer, { nowMs: NOW_MS });
    await check(jwt, token);
    const next = createSigner('key-2');
    keys = toKeySet(next);
    await check(jwt, await signJwt(next, { nowMs: NOW_MS }));
    expect(jwt.known(hashSecret(token))).toBeUndefined();
    expect(await check(jwt, token)).toEqual(NOT_KNOWN);
  });
});

describe('a JWT is refused', () => {
  it.each([
    ['of another issuer', { iss: 'https://evil.example.org/' }, 'the claim "iss" of'],
    ['for another audience', { aud: 'grafana' }, 'the claim "aud" of'],
    ['without an audience', { aud: undefined }, 'the claim "aud" of'],
    ['without an end', { exp: undefined }, 'the claim "exp" of'],
    ['with an end that is no number', { exp: 'never' as unknown as number }, 'the claim "exp" of'],
    ['that has expired', { exp: NOW_MS / 1000 - 31 }, 'the token has expired'],
    ['that is not valid yet', { nbf: NOW_MS / 1000 + 31 }, 'the claim "nbf" of'],
    ['that was issued in the future', { iat: NOW_MS / 1000 + 31 }, 'the claim "iat" of'],
  ])('%s', async (_what, claims, refusal) => {
    const token = await signJwt(signer, { nowMs: NOW_MS, ...claims });
    expect(await check(createCheck(), token)).toEqual({ refusal: expect.stringContaining(refusal) });
  });

  it('but clocks may differ a little', async () => {
    const nowSeconds = NOW_MS / 1000;
    for (const claims of [{ exp: nowSeconds - 29 }, { nbf: nowSeconds + 29 }, { iat: nowSeconds + 29 }, { iat: 0 }])
      expect(await check(createCheck(), await signJwt(signer, { nowMs: NOW_MS, ...claims }))).toHaveProperty(
        'identity',
      );
  });

  it.each(['none', 'None', 'NONE', 'nOnE', ''])('with the algorithm %j', async (alg) => {
    const unsigned = `${part({ alg, kid: 'key-1' })}.${part(good)}.`;
    expect(JwtCheck.isJwt(unsigned)).toBe(false);
    expect(await check(createCheck(), unsigned)).toEqual(NOT_KNOWN);
    expect(await check(createCheck(), `${unsigned}AAAA`)).toEqual(NOT_KNOWN);
  });

  it.each(['pem', 'jwk'])('signed with HS256 and the public key (%s) as the secret', async (form) => {
    const pem = signer.publicKey.export({ format: 'pem', type: 'spki' }).toString();
    const secret = form === 'pem' ? pem : JSON.stringify(toKeySet(signer).keys[0]);
    const signed = `${part({ alg: 'HS256', kid: 'key-1' })}.${part(good)}`;
    const token = `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
    expect(await check(createCheck(), token)).toEqual(NOT_KNOWN);
  });

  it('signed by someone else with the same key id', async () => {
    expect(await check(createCheck(), await signJwt(stranger, { nowMs: NOW_MS }))).toEqual(NOT_KNOWN);
  });

  it('with an algorithm that is not among those allowed', async () => {
    const other = createSigner('key-2', 'RS256');
    const jwt = createCheck({ keys: fixedKeys(toKeySet(signer, other)) });
    expect(await check(jwt, await signJwt(other, { nowMs: NOW_MS }))).toEqual(NOT_KNOWN);
  });

  it.each([
    { kid: '../../etc/passwd' },
    { kid: 'key-2' },
    { kid: "' OR 1=1 --" },
    { kid: ['key-1'] },
    { kid: 7 },
    { kid: '__proto__' },
    { jku: 'https://evil.example.org/keys' },
    { jwk: toKeySet(stranger).keys[0] },
    { x5u: 'https://evil.example.org/cert' },
    { crit: ['made-up'], 'made-up': true },
  ])('when its header tries to choose the key: %j', async (header) => {
    const token = await forged(stranger.privateKey, { alg: 'ES256', kid: 'key-1', ...header });
    expect(await check(createCheck(), token)).toEqual(NOT_KNOWN);
  });

  it('when it was changed, cut, or is nothing of the kind', async () => {
    const token = await signJwt(signer, { nowMs: NOW_MS });
    const [head = '', , signature = ''] = token.split('.');
    for (const wrong of [
      `${head}.${part(good)}.${signature}`,
      token.slice(0, -2),
      'a.b.c',
      `${part({})}.${part([])}.AA`,
    ])
      expect(await check(createCheck(), wrong)).toEqual(NOT_KNOWN);
  });

  it('when it is huge, before anything is done with it', async () => {
    const token = await signJwt(signer, { nowMs: NOW_MS, filler: 'x'.repeat(8192) });
    expect(JwtCheck.isJwt(token)).toBe(false);
    expect(JwtCheck.isJwt(await signJwt(signer, { nowMs: NOW_MS }))).toBe(true);
  });

  it('while there are no keys', async () => {
    const keys: KeySource = { current: async () => undefined, renew: async () => undefined, usableUntilMs: 0 };
    expect(await check(createCheck({ keys }), await signJwt(signer, { nowMs: NOW_MS }))).toEqual(NOT_KNOWN);
  });
});

/** Signed by hand: the library would not write such headers. */
async function forged(key: (typeof stranger)['privateKey'], header: object): Promise<string> {
  const { sign } = await import('node:crypto');
  const signed = `${part(header)}.${part(good)}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

it.each([
  [{ groups: ['a', 'b'] }, 'groups', ['a', 'b']],
  [{ groups: 'a' }, 'groups', ['a']],
  [{ realm_access: { roles: ['a'] } }, 'realm_access.roles', ['a']],
  [{ 'https://x.org/groups': ['a'] }, 'https://x.org/groups', ['a']],
  [{ groups: ['a', 1, null, { b: 1 }] }, 'groups', ['a']],
  [{ groups: 7 }, 'groups', []],
  [{}, 'groups', []],
  [{ a: null }, 'a.b', []],
  [{ a: 'text' }, 'a.length', []],
  [{}, '__proto__.constructor.name', []],
])('of %j at %s: %j', (claims, path, values) => {
  expect(claimValues(claims, path)).toEqual(values);
});
