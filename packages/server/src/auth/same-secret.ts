import { hash, timingSafeEqual } from 'node:crypto';

/*
 * The only place where credentials are compared (a test sees to that): in constant time, so that nobody can find out one
 * character by character from how long a refusal takes.
 */

/** SHA-256 of a credential: how it is stored and looked up. */
export function hashSecret(secret: string): Buffer {
  // In one go: every request pays for it, and an object for it costs more than the hash.
  return hash('sha256', secret, 'buffer');
}

export function isSameHash(known: Buffer, shown: Buffer): boolean {
  return known.length === shown.length && timingSafeEqual(known, shown);
}

/** Of texts that are in memory anyway: cheaper than their hashes. Only whether they are equally long can be learnt. */
export function isSameText(known: string, shown: string): boolean {
  return isSameHash(Buffer.from(known), Buffer.from(shown));
}
