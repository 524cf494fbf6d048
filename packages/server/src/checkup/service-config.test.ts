import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../testing/test-node.ts';
import { lookAtServiceConfig } from './service-config.ts';
import { lookAt } from './testing/look-at.ts';

function lookAtFile(text: string) {
  const dir = tempDir();
  writeFileSync(join(dir, 'broker.toml'), text);
  return lookAt(lookAtServiceConfig, { dir, settings: { service: { configFile: 'broker.toml' } } });
}

test('without a service there is nothing to look at', async () => {
  expect(await lookAt(lookAtServiceConfig)).toEqual([]);
});

test('keys and secrets of a valid file are counted', async () => {
  expect(await lookAtFile('[http]\nport = 1\n[user]\npassword = "x9-secret"\n')).toMatchObject([
    { state: 'ok', detail: expect.stringMatching(/broker\.toml is valid TOML, 2 keys, 1 of them masked as secrets$/) },
  ]);
});

test('a broken file is told with the place, without its text', async () => {
  const [look] = await lookAtFile('a = 1\npassword = x9-secret\n');
  expect(look).toMatchObject({
    state: 'problem',
    detail: expect.stringMatching(/broker\.toml: not valid TOML \(line 2/),
  });
  expect(JSON.stringify(look)).not.toContain('x9-secret');
});

test('one that is missing, or no file, is a problem', async () => {
  const dir = tempDir();
  mkdirSync(join(dir, 'folder'));
  for (const configFile of ['absent.toml', 'folder']) {
    const looks = await lookAt(lookAtServiceConfig, { dir, settings: { service: { configFile } } });
    expect(looks).toMatchObject([{ state: 'problem', remedy: expect.stringContaining('--service-config FILE') }]);
  }
});
