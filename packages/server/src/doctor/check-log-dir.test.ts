import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../testing/test-node.ts';
import { checkLogDir } from './check-log-dir.ts';
import { runCheck } from './testing/run-check.ts';

test('a directory that can be read is fine', async () => {
  const dir = tempDir();
  expect(await runCheck(checkLogDir, { settings: { service: { logDir: dir } } })).toEqual([
    { state: 'ok', detail: `${dir} is readable` },
  ]);
});

test('a missing directory of a service is a warning, it may be created later', async () => {
  const dir = join(tempDir(), 'absent');
  expect(await runCheck(checkLogDir, { settings: { service: { logDir: dir } } })).toEqual([
    {
      state: 'warning',
      detail: `${dir} does not exist: no logs are shown until it does`,
      remedy: 'create it, or correct service.log-dir (--log-dir DIR)',
    },
  ]);
});

test("the node's own directory is created when it starts", async () => {
  const [outcome] = await runCheck(checkLogDir);
  expect(outcome).toMatchObject({ state: 'ok', detail: expect.stringContaining('does not exist yet') });
});

test('a file where the directory should be is a problem', async () => {
  const file = join(tempDir(), 'file');
  writeFileSync(file, '');
  expect(await runCheck(checkLogDir, { settings: { service: { logDir: file } } })).toEqual([
    {
      state: 'problem',
      detail: `${file} is not a directory`,
      remedy: 'set service.log-dir (--log-dir DIR) to the directory that holds the logs',
    },
  ]);
});
