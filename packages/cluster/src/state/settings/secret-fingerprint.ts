import { createHmac, hkdfSync } from 'node:crypto';
import type { SettingJson } from '@porthole/contract';

/** Long enough to avoid collisions, short enough to read aloud. */
const FINGERPRINT_BYTES = 9;

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
