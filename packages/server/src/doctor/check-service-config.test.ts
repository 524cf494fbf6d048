import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { checkServiceConfig } from './check-log-files.ts';
import { runCheck } from './testing/run-check.ts';

function checkFile(text: string) {
  const dir = tempDir();
  writeFileSync(join(dir, 'broker.toml'), text);
  return runCheck(checkServiceConfig, { dir, settings: { service: { configFile: 'broker.toml' } } });
}

test('nothing is checked without a service', async () => {
  expect(await runCheck(checkServiceConfig)).toEqual([]);
});

test('keys and secrets of a valid file are counted', async () => {
  expect(await checkFile('[http]\nport = 1\n[user]\npassword = "x9-secret"\n')).toMatchObject([
    { state: 'ok', detail: expect.stringMatching(/broker\.toml is valid TOML, 2 keys, 1 of them masked as secrets$/) },
  ]);
});

test('an invalid file is reported with the position, without its text', async () => {
  const [outcome] = await checkFile('a = 1\npassword = x9-secret\n');
  expect(outcome).toMatchObject({
    state: 'problem',
    detail: expect.stringMatching(/broker\.toml: not valid TOML \(line 2/),
  });
  expect(JSON.stringify(outcome)).not.toContain('x9-secret');
});

test('a missing file or a directory is a problem', async () => {
  const dir = tempDir();
  mkdirSync(join(dir, 'folder'));
  for (const configFile of ['absent.toml', 'folder']) {
    const outcomes = await runCheck(checkServiceConfig, { dir, settings: { service: { configFile } } });
    expect(outcomes).toMatchObject([{ state: 'problem', remedy: expect.stringContaining('--service-config FILE') }]);
  }
});
