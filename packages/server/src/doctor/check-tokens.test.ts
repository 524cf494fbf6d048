import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { createToken } from '../auth/tokens.ts';
import { checkTokens } from './check-credentials.ts';
import { runCheck } from './testing/run-check.ts';

function checkFile(text: string, mode: number) {
  const dir = tempDir();
  writeFileSync(join(dir, 'tokens'), text);
  chmodSync(join(dir, 'tokens'), mode);
  return runCheck(checkTokens, { dir, settings: { auth: { tokenFile: 'tokens' } } });
}

const two = `${createToken('ann').line}\n${createToken('bob').line}\n`;

test.each([
  [0o600, 'ok', /contains 2 tokens$/],
  [0o644, 'warning', /everyone on this machine can read it$/],
  [0o666, 'problem', /everyone on this machine can add one$/],
] as const)('a file of mode %o is %s', async (mode, state, detail) => {
  expect(await checkFile(two, mode)).toMatchObject([{ state, detail: expect.stringMatching(detail) }]);
});

test.each([
  ['', /contains no token/],
  ['my-plain-token\n', /tokens:1: expected/],
])('a file that holds %j is a problem', async (text, detail) => {
  const [outcome] = await checkFile(text, 0o600);
  expect(outcome).toMatchObject({
    state: 'problem',
    detail: expect.stringMatching(detail),
    remedy: expect.stringContaining('porthole token NAME >> '),
  });
  expect(outcome?.detail).not.toContain('my-plain-token');
});

test('limited roles are counted', async () => {
  const text = `${createToken('ann').line}\n${createToken('bob', ['viewer']).line}\n`;
  const [outcome] = await checkFile(text, 0o600);
  expect(outcome).toMatchObject({
    state: 'ok',
    detail: expect.stringMatching(/2 tokens, 1 of them with limited roles$/),
  });
});

test('a file that is missing is a problem', async () => {
  const outcomes = await runCheck(checkTokens, { settings: { auth: { tokenFile: 'absent' } } });
  expect(outcomes).toMatchObject([{ state: 'problem', detail: expect.stringContaining('ENOENT') }]);
});
