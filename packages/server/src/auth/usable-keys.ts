import type { JSONWebKeySet } from 'jose';

/** More than any provider has at a time; checking a key costs a signature. */
const MAX_KEYS = 100;

/** Names of keys are shown to operators; whoever serves them chooses them. */
const MAX_NAME_CHARS = 64;

/** What a key can sign with, by its type and curve. One of each kind shows whether the library can use it. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  'RSA ': 'RS256',
  'EC P-256': 'ES256',
  'EC P-384': 'ES384',
  'EC P-521': 'ES512',
  'OKP Ed25519': 'EdDSA',
};

export interface UsableKeys {
  set: JSONWebKeySet;
  /** Which of the others cannot be used and why, in words for an operator. */
  unusable: string[];
}

type Key = JSONWebKeySet['keys'][number];

/**
 * Only keys that the library can verify a signature with: it finds out about the others when a client shows a JWT that
 * names one. Each key is tried with a signature that is none.
 */
export async function usableKeys(keys: readonly Key[]): Promise<UsableKeys> {
  const usable: Key[] = [];
  const unusable: string[] = [];
  for (const [index, key] of keys.entries()) {
    const reason = index < MAX_KEYS ? await findDefect(key) : `only ${MAX_KEYS} keys are taken`;
    if (reason === undefined) usable.push(key);
    else unusable.push(`${keyName(key, index)}: ${reason}`);
  }
  return { set: { keys: usable }, unusable };
}

async function findDefect(key: Key): Promise<string | undefined> {
  const { compactVerify, errors, importJWK } = await import('jose');
  if ('d' in key) return 'a private key; whoever can fetch it can sign';
  const algorithm = typeof key.alg === 'string' ? key.alg : ALGORITHMS[`${key.kty} ${key.crv ?? ''}`];
  if (algorithm === undefined) return 'its type is not supported';
  try {
    const head = Buffer.from(JSON.stringify({ alg: algorithm })).toString('base64url');
    await compactVerify(`${head}.e30.${Buffer.alloc(64).toString('base64url')}`, await importJWK(key, algorithm));
    return 'it accepts a signature that is none';
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return undefined;
    return error instanceof Error ? error.message.slice(0, 200) : 'it cannot be read';
  }
}

function keyName({ kid }: Key, index: number): string {
  return typeof kid === 'string' ? `key ${JSON.stringify(kid.slice(0, MAX_NAME_CHARS))}` : `key ${index + 1}`;
}
