import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROLES } from '@porthole/contract';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { bearerToken } from './access.ts';
import { createToken, hashSecret, readTokenFile } from './tokens.ts';

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
    expect(tokens.findOwner(hashSecret(ann.token))).toEqual({ name: 'ann', kind: 'token', roles: ROLES });
    expect(tokens.findOwner(hashSecret(bob.token))?.name).toBe('BOB');
    for (const wrong of ['', 'x', ann.token.slice(1), `${ann.token} `, ann.line])
      expect(tokens.findOwner(hashSecret(wrong))).toBeUndefined();
  });

  it.each([
    ['', ROLES],
    [' roles=viewer', ['viewer']],
    [' roles=config,viewer # both', ['viewer', 'config']],
    ['\troles=admin', ['admin']],
    [' roles=none', []],
  ])('gives the roles of a line that ends in %j', async (end, roles) => {
    const { token, line } = createToken('ann');
    const tokens = await readTokenFile(tokenFile(`${line}${end}\n`));
    expect(tokens.findOwner(hashSecret(token))?.roles).toEqual(roles);
  });

  const hash = `sha256:${'0'.repeat(64)}`;
  it.each([
    'just-a-secret-token',
    'ann secret-token',
    'ann sha256:abc',
    `ann sha256:${'0'.repeat(63)}`,
    `ann md5:${'0'.repeat(64)}`,
    hash,
    `ann ${hash} roles=`,
    `ann ${hash} roles=root`,
    `ann ${hash} roles=viewer,none`,
    `ann ${hash} roles=viewer, config`,
    `ann ${hash} role=viewer`,
    `ann ${hash} viewer`,
  ])('with the line %j is refused with its place, and the line is not quoted', async (line) => {
    const path = tokenFile(`# first\n${line}\n`);
    const message = await readTokenFile(path).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
    expect(message).toMatch(
      /:2: expected "NAME sha256:" and 64 hex digits,.*; create such a line with "porthole token NAME"$/,
    );
    expect(message.replace('expected "NAME sha256:"', '')).not.toContain(line);
  });

  it.each(['', '\n\n', '# only a comment\n'])('that holds no token is refused: %j', async (text) => {
    await expect(readTokenFile(tokenFile(text))).rejects.toThrow(
      'contains no token; create one with "porthole token NAME"',
    );
  });

  it('holds the hash of a new token, and tokens are never the same', () => {
    const { token, line } = createToken('ann');
    expect(line).toBe(`ann sha256:${createHash('sha256').update(token).digest('hex')}`);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(createToken('ann').token).not.toBe(token);
    expect(createToken('ann', ['viewer', 'config']).line).toMatch(/ roles=viewer,config$/);
  });
});

describe('an Authorization header', () => {
  it.each(['Bearer good-token', 'bearer good-token', 'BEARER   good-token'])('%j has a token', (header) => {
    expect(bearerToken(header)).toBe('good-token');
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
    ' Bearer good-token',
  ])('%j has none', (header) => {
    expect(bearerToken(header)).toBeUndefined();
  });
});
