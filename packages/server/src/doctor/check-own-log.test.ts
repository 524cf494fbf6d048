import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { checkOwnLog } from './check-log-files.ts';
import { runCheck } from './testing/run-check.ts';

const MIB = 1024 ** 2;
const plenty = { freeBytes: async () => 1024 ** 4 };

test('a writable directory is fine, and no file is left in it', async () => {
  const dir = tempDir();
  mkdirSync(join(dir, 'own'));
  expect(await runCheck(checkOwnLog, { dir, settings: { logging: { dir: 'own' } }, system: plenty })).toEqual([
    { state: 'ok', detail: `${join(dir, 'own')} is writable` },
    { state: 'ok', detail: '1048576 MiB free on its disk, at most 576 MiB needed' },
  ]);
  expect(readdirSync(join(dir, 'own'))).toEqual([]);
});

test('a missing directory that could be created is fine, and not created', async () => {
  const dir = tempDir();
  const [outcome] = await runCheck(checkOwnLog, { dir, settings: { logging: { dir: 'a/b/c' } } });
  expect(outcome).toEqual({ state: 'ok', detail: `${join(dir, 'a/b/c')} can be created` });
  expect(readdirSync(dir)).toEqual([]);
});

test('a directory below a file is a problem', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'file'), '');
  expect(
    await runCheck(checkOwnLog, { dir, settings: { logging: { dir: 'file/own' } }, system: { userName: 'ann' } }),
  ).toEqual([
    {
      state: 'problem',
      detail: `${dir}/file/own is not writable: ENOTDIR`,
      remedy: `set logging.dir (--logging-dir DIR) to another directory, or: "mkdir -p ${dir}/file/own && chown ann ${dir}/file/own"`,
    },
  ]);
});

test.each([
  { free: 300 * MIB, state: 'warning', detail: "300 MiB free on its disk, but the node's own log may grow to 576 MiB" },
  { free: 10 * MIB, state: 'problem', detail: 'only 10 MiB free on its disk' },
])('$free free bytes are a $state', async ({ free, state, detail }) => {
  const [, outcome] = await runCheck(checkOwnLog, { system: { freeBytes: async () => free } });
  expect(outcome).toMatchObject({ state, detail });
});
