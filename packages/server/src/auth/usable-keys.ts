import type { JSONWebKeySet } from 'jose';

/** More than any provider uses at a time; each key costs the verification of a signature. */
const MAX_KEYS = 100;

/** Names of keys are shown to operators, but chosen by whoever serves the keys. */
const MAX_NAME_CHARS = 64;

/** An algorithm for each type and curve of keys, to test whether the library can use the key. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  'RSA ': 'RS256',
  'EC P-256': 'ES256',
  'EC P-384': 'ES384',
  'EC P-521': 'ES512',
  'OKP Ed25519': 'EdDSA',
};

export interface UsableKeys {
  set: JSONWebKeySet;
  /** The unusable keys with the reason, for operators. */
  unusable: string[];
}

type Key = JSONWebKeySet['keys'][number];

/**
 * The keys that the library can verify a signature with: otherwise an unusable key would only be noticed when a client
 * sends a JWT that names it. Each key is tried with an invalid signature.
 */
export async function usableKeys(keys: readonly Key[]): Promise<UsableKeys> {
  const usable: Key[] = [];
  const unusable: string[] = [];
  for (const [index, key] of keys.entries()) {
    const reason = index < MAX_KEYS ? await findDefect(key) : `only ${MAX_KEYS} keys are used`;
    if (reason === undefined) usable.push(key);
    else unusable.push(`${keyName(key, index)}: ${reason}`);
  }
  return { set: { keys: usable }, unusable };
}

async function findDefect(key: Key): Promise<string | undefined> {
  const { compactVerify, errors, importJWK } = await import('jose');
  if ('d' in key) return 'it is a private key: everyone who can fetch it can sign';
  const algorithm = typeof key.alg === 'string' ? key.alg : ALGORITHMS[`${key.kty} ${key.crv ?? ''}`];
  if (algorithm === undefined) return 'its type is not supported';
  try {
    const head = Buffer.from(JSON.stringify({ alg: algorithm })).toString('base64url');
    await compactVerify(`${head}.e30.${Buffer.alloc(64).toString('base64url')}`, await importJWK(key, algorithm));
    return 'it accepts an invalid signature';
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return undefined;
    return error instanceof Error ? error.message.slice(0, 200) : 'it cannot be read';
  }
}

function keyName({ kid }: Key, index: number): string {
  return typeof kid === 'string' ? `key ${JSON.stringify(kid.slice(0, MAX_NAME_CHARS))}` : `key ${index + 1}`;
}
