import { createHmac, hkdfSync } from 'node:crypto';
import type { SettingJson } from '@porthole/contract';

/** Enough that two secrets do not meet by chance, short enough to be read out. */
const FINGERPRINT_BYTES = 9;

/** Tells whether two nodes have the same secret, and to those without the key nothing at all. */
export type SecretFingerprint = (key: string, value: SettingJson) => string;

/**
 * The fingerprint of a cluster: alike on all nodes that hold its credential. The credential is stretched to a key of its
 * own, so that fingerprints say nothing about it; the setting's key is part of it, so that the same password under two
 * keys does not show.
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
