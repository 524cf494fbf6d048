import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isRole, ROLES, type Role } from '@porthole/contract';
import type { Identity } from './identity.ts';
import { hashSecret, isSameHash } from './same-secret.ts';

/** In a line: known, but with no role at all, as for who only reads the metrics. */
const NO_ROLES = 'none';

const WANTED = `expected "NAME sha256:" and 64 hex digits, then perhaps "roles=" and any of ${ROLES.join(', ')}, or ${NO_ROLES}`;

/** A token as it is stored: whose it is, and the SHA-256 of it. Tokens are long and random, so a plain hash is enough. */
interface StoredToken {
  identity: Identity;
  hash: Buffer;
}

/** Knows the tokens that open the node. */
export interface TokenCheck {
  /** Whose token it is, by its hash; `undefined` where that is not known. */
  findOwner(hash: Buffer): Identity | undefined;
}

export interface TokenFile extends TokenCheck {
  /** One per token. */
  owners: readonly Identity[];
}

/**
 * Reads a token file: one `NAME sha256:HEX` per line, perhaps with `roles=viewer,config`; without, all roles. `#` starts a
 * comment. Throws with file and line on anything else.
 */
export async function readTokenFile(path: string): Promise<TokenFile> {
  const stored = parseTokens(await readFile(path, 'utf8'), path);
  return {
    owners: stored.map(({ identity }) => identity),
    findOwner(wanted) {
      // Every token is compared, in constant time each: the time tells neither which matched nor how far.
      const matches = stored.filter((candidate) => isSameHash(candidate.hash, wanted));
      return matches[0]?.identity;
    },
  };
}

/** A new random token and the line that stores it. The token itself is kept nowhere. Without roles it has all of them. */
export function createToken(name: string, roles: readonly string[] = []): { token: string; line: string } {
  const token = randomBytes(32).toString('base64url');
  const limited = roles.length === 0 ? '' : ` roles=${roles.join(',')}`;
  return { token, line: `${name} sha256:${hashSecret(token).toString('hex')}${limited}` };
}

/** The roles in `viewer,config` or `none`; `undefined` where a word is none. */
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
    // The line is not quoted: someone may have put a token there in clear.
    if (!token) throw new Error(`${path}:${index + 1}: ${WANTED}; "porthole token NAME" makes such a line`);
    tokens.push(token);
  }
  if (tokens.length === 0) throw new Error(`${path}: holds no token; "porthole token NAME" makes one`);
  return tokens;
}

function parseLine(line: string): StoredToken | undefined {
  const [, name = '', hex = '', limited] = /^(\S+)\s+sha256:([0-9a-f]{64})(?:\s+roles=(\S+))?$/i.exec(line) ?? [];
  const roles = limited === undefined ? ROLES : parseRoles(limited);
  if (name === '' || !roles) return undefined;
  return { identity: { name, kind: 'token', roles }, hash: Buffer.from(hex, 'hex') };
}
