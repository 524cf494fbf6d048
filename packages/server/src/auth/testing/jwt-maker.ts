import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type JSONWebKeySet, type JWTPayload, SignJWT } from 'jose';

export const ISSUER = 'https://id.example.org/';
export const AUDIENCE = 'porthole';

/** One who signs: a key pair with a name. */
export interface Signer {
  kid: string;
  alg: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

export function createSigner(kid: string, alg: 'ES256' | 'RS256' | 'EdDSA' = 'ES256'): Signer {
  return { kid, alg, ...createKeyPair(alg) };
}

function createKeyPair(alg: string): Pick<Signer, 'privateKey' | 'publicKey'> {
  if (alg === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  return alg === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

export function toKeySet(...signers: Signer[]): JSONWebKeySet {
  const keys = signers.map(({ kid, alg, publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), kid, alg }));
  return { keys } as JSONWebKeySet;
}

/** A good one, but for what is given. A claim that is `undefined` is left out. */
export function signJwt(
  { kid, alg, privateKey }: Signer,
  { nowMs = Date.now(), ...claims }: Record<string, unknown> & { nowMs?: number } = {},
): Promise<string> {
  const nowSeconds = Math.floor(nowMs / 1000);
  const payload = { iss: ISSUER, aud: AUDIENCE, sub: 'ann', exp: nowSeconds + 300, groups: ['ops'], ...claims };
  return new SignJWT(JSON.parse(JSON.stringify(payload)) as JWTPayload)
    .setProtectedHeader({ alg, kid })
    .sign(privateKey);
}
