import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** A token as it is stored: whose it is, and the SHA-256 of it. Tokens are long and random, so a plain hash is enough. */
interface StoredToken {
  name: string;
  hash: Buffer;
}

/** Knows the tokens that open the node. */
export interface TokenCheck {
  /** The name of the token's owner, or `undefined` where the token is not known. */
  ownerOf(token: string): string | undefined;
}

export interface TokenFile extends TokenCheck {
  /** One name per token. */
  owners: readonly string[];
}

/** Reads a token file: one `name sha256:HEX` per line, `#` starts a comment. Throws with file and line on anything else. */
export async function readTokenFile(path: string): Promise<TokenFile> {
  const stored = parseTokens(await readFile(path, 'utf8'), path);
  return {
    owners: stored.map(({ name }) => name),
    ownerOf(token) {
      const hash = hashOf(token);
      // Every token is compared, in constant time each: the time tells neither which matched nor how far.
      const matches = stored.filter((candidate) => timingSafeEqual(candidate.hash, hash));
      return matches[0]?.name;
    },
  };
}

/** A new random token and the line that stores it. The token itself is kept nowhere. */
export function createToken(name: string): { token: string; line: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, line: `${name} sha256:${hashOf(token).toString('hex')}` };
}

function parseTokens(text: string, path: string): StoredToken[] {
  const tokens: StoredToken[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/#.*/, '').trim();
    if (line === '') continue;
    const match = /^(\S+)\s+sha256:([0-9a-f]{64})$/i.exec(line);
    // The line is not quoted: someone may have put a token there in clear.
    if (!match)
      throw new Error(
        `${path}:${index + 1}: expected "NAME sha256:" and 64 hex digits; "porthole token NAME" makes such a line`,
      );
    const [, name = '', hex = ''] = match;
    tokens.push({ name, hash: Buffer.from(hex, 'hex') });
  }
  if (tokens.length === 0) throw new Error(`${path}: holds no token; "porthole token NAME" makes one`);
  return tokens;
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
