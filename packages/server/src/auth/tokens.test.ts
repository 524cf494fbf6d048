import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../testing/test-node.ts';
import { bearerOwner } from './bearer.ts';
import { createToken, readTokenFile, type TokenCheck } from './tokens.ts';

function tokenFile(text: string): string {
  const path = join(tempDir(), 'tokens');
  writeFileSync(path, text);
  return path;
}

describe('a token file', () => {
  it('knows each of its tokens by the name of its owner', async () => {
    const [ann, bob] = [createToken('ann'), createToken('bob')];
    const tokens = await readTokenFile(
      tokenFile(`# ours\n\n${ann.line}\r\n  ${bob.line.toUpperCase().replace('SHA256', 'sha256')} # since May\n`),
    );
    expect(tokens.ownerOf(ann.token)).toBe('ann');
    expect(tokens.ownerOf(bob.token)).toBe('BOB');
    for (const wrong of ['', 'x', ann.token.slice(1), `${ann.token} `, ann.line])
      expect(tokens.ownerOf(wrong)).toBeUndefined();
  });

  it.each([
    'just-a-secret-token',
    'ann secret-token',
    'ann sha256:abc',
    `ann sha256:${'0'.repeat(63)}`,
    `ann md5:${'0'.repeat(64)}`,
    `sha256:${'0'.repeat(64)}`,
  ])('with the line %j is refused with its place, and the line is not quoted', async (line) => {
    const path = tokenFile(`# first\n${line}\n`);
    const message = await readTokenFile(path).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
    expect(message).toMatch(/:2: expected "NAME sha256:" and 64 hex digits; "porthole token NAME" makes such a line$/);
    expect(message.replace('expected "NAME sha256:"', '')).not.toContain(line);
  });

  it.each(['', '\n\n', '# only a comment\n'])('that holds no token is refused: %j', async (text) => {
    await expect(readTokenFile(tokenFile(text))).rejects.toThrow('holds no token; "porthole token NAME" makes one');
  });

  it('holds the hash of a new token, and tokens are never the same', () => {
    const { token, line } = createToken('ann');
    expect(line).toBe(`ann sha256:${createHash('sha256').update(token).digest('hex')}`);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(createToken('ann').token).not.toBe(token);
  });
});

describe('an Authorization header', () => {
  const tokens: TokenCheck = { ownerOf: (token) => (token === 'good-token' ? 'ann' : undefined) };

  it.each(['Bearer good-token', 'bearer good-token', 'BEARER   good-token'])('%j proves its owner', (header) => {
    expect(bearerOwner(header, tokens)).toBe('ann');
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearergood-token',
    'good-token',
    'Basic good-token',
    'Bearer good-token x',
    'Bearer "good-token"',
    'Bearer wrong',
    ' Bearer good-token',
  ])('%j proves nothing', (header) => {
    expect(bearerOwner(header, tokens)).toBeUndefined();
  });
});
