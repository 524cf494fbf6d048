import { createHash, createHmac, hkdfSync } from 'node:crypto';
import type { NodeConfig, SettingJson } from '@porthole/contract';
import { SharedByKey } from '@porthole/logs/shared';

/** Maximum characters of cached texts: the configurations of a thousand members. */
const MAX_CACHED_CHARACTERS = 8 * 1024 ** 2;

/** Masks the secrets of a text; `undefined` if that is not possible. */
export type Masked = string | undefined | Promise<string | undefined>; // kept: a result, kept by SharedByKey

/** Long enough to avoid collisions, short enough to read aloud. */
const FINGERPRINT_BYTES = 9;

/**
 * Caches what is made of configurations: they rarely change, many members have the same, and masking one is far more expensive
 * than fetching it. Concurrent calls for the same text share the work. Failures are not cached.
 */
export function rememberByText<T>(make: (text: string) => T | Promise<T>): (text: string) => Promise<T> {
  const known = new SharedByKey<string, T>({ isKept: true });
  let kept = 0;
  return (text) => {
    const key = createHash('sha256').update(text).digest('base64');
    // What is made of it is about as long.
    if (!known.has(key)) kept += text.length;
    if (kept > MAX_CACHED_CHARACTERS) {
      known.clear();
      kept = text.length;
    }
    return known.run(key, () => make(text));
  };
}

/** Contract-only nodes send their secrets; masking twice changes nothing. */
export async function maskConfig(
  { config, node }: NodeConfig,
  { mask }: { mask(configText: string): Masked },
): Promise<NodeConfig | null> {
  const masked = await mask(config);
  return masked === undefined ? null : { config: masked, node };
}

/** Shows whether two nodes have the same secret; reveals nothing without the key. */
export type SecretFingerprint = (key: string, value: SettingJson) => string;

/**
 * Fingerprints that are equal on all nodes with the same cluster token. A separate key is derived from the token, so that
 * fingerprints reveal nothing about it; the key of the setting is included, so that the same password under two keys does not
 * show.
 */
export function secretFingerprint(clusterCredential: string): SecretFingerprint {
  const secret = new Uint8Array(
    hkdfSync('sha256', clusterCredential, '', 'porthole configuration fingerprint, version 1', 32),
  );
  return (key, value) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([key, value]))
      .digest()
      .subarray(0, FINGERPRINT_BYTES)
      .toString('base64url');
}
