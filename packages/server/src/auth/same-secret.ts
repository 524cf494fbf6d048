import { hash, timingSafeEqual } from 'node:crypto';

/*
 * The only place where credentials are compared (enforced by a test): in constant time, so that nobody can guess one
 * character by character from the response time.
 */

/** SHA-256 of a credential: how it is stored and looked up. */
export function hashSecret(secret: string): Buffer {
  // One-shot: this runs for every request, and a Hash object costs more than the hash.
  return hash('sha256', secret, 'buffer');
}

export function isSameHash(known: Buffer, shown: Buffer): boolean {
  return known.length === shown.length && timingSafeEqual(known, shown);
}

/** For strings in memory: cheaper than hashing. Timing reveals only whether their lengths are equal. */
export function isSameText(known: string, shown: string): boolean {
  return isSameHash(Buffer.from(known), Buffer.from(shown));
}
