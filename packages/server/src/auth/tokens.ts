import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isRole, ROLES, type Role } from '@porthole/contract';
import type { Identity } from './identity.ts';

/** Known, but without any role: enough for reading metrics. */
const NO_ROLES = 'none';

const WANTED = `expected "NAME sha256:" and 64 hex digits, optionally followed by "roles=" and any of ${ROLES.join(', ')}, or ${NO_ROLES}`;

/** A stored token: its owner and its SHA-256. Tokens are long and random, so a plain hash is enough. */
interface StoredToken {
  identity: Identity;
  hash: Buffer;
}

/** The tokens a node accepts. */
export interface TokenCheck {
  /** The owner of a token, by its hash; `undefined` for an unknown token. */
  findOwner(hash: Buffer): Identity | undefined;
}

export interface TokenFile extends TokenCheck {
  /** One per token. */
  owners: readonly Identity[];
}

/**
 * Reads a token file: one `NAME sha256:HEX` per line, optionally with `roles=viewer,config` (default: all roles). `#`
 * starts a comment. Throws with file and line on anything else.
 */
export async function readTokenFile(path: string): Promise<TokenFile> {
  const stored = parseTokens(await readFile(path, 'utf8'), path);
  return {
    owners: stored.map(({ identity }) => identity),
    findOwner(wanted) {
      // Every token is compared, each in constant time: the timing reveals neither which one matched nor how far.
      const matches = stored.filter((candidate) => isSameHash(candidate.hash, wanted));
      return matches[0]?.identity;
    },
  };
}

/** A new random token and the line for the token file. The token itself is not stored. Without `roles` it has all of them. */
export function createToken(name: string, roles: readonly string[] = []): { token: string; line: string } {
  const token = randomBytes(32).toString('base64url');
  const limited = roles.length === 0 ? '' : ` roles=${roles.join(',')}`;
  return { token, line: `${name} sha256:${hashSecret(token).toString('hex')}${limited}` };
}

/** The roles in `viewer,config` or `none`; `undefined` if one is unknown. */
export function parseRoles(text: string): Role[] | undefined {
  if (text === NO_ROLES) return [];
  const words = text.split(',');
  return words.every(isRole) ? ROLES.filter((role) => words.includes(role)) : undefined;
}

function parseTokens(text: string, path: string): StoredToken[] {
  const tokens: StoredToken[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/#.*/, '').trim();
    if (line === '') continue;
    const token = parseLine(line);
    // The line is not quoted: it may contain a plain token.
    if (!token) throw new Error(`${path}:${index + 1}: ${WANTED}; create such a line with "porthole token NAME"`);
    tokens.push(token);
  }
  if (tokens.length === 0) throw new Error(`${path}: contains no token; create one with "porthole token NAME"`);
  return tokens;
}

function parseLine(line: string): StoredToken | undefined {
  const [, name = '', hex = '', limited] = /^(\S+)\s+sha256:([0-9a-f]{64})(?:\s+roles=(\S+))?$/i.exec(line) ?? [];
  const roles = limited === undefined ? ROLES : parseRoles(limited);
  if (name === '' || !roles) return undefined;
  return { identity: { name, kind: 'token', roles }, hash: Buffer.from(hex, 'hex') };
}

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
