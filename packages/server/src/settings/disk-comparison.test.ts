import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compareWithDisk, DiskComparison } from './describe-settings.ts';
import { SettingsDir } from './testing/settings-dir.ts';

const START = '[http]\nport = 8080\n';

let dir: SettingsDir;
beforeEach(async () => {
  dir = await SettingsDir.create();
});
afterEach(() => dir.remove());

test('a settings file that stays the same is read until it has settled, and not after that', async () => {
  const loaded = await dir.loadText(START);
  let nowMs = 0;
  let reads = 0;
  const compare = (given: typeof loaded) => {
    reads++;
    return compareWithDisk(given);
  };
  const comparison = new DiskComparison(loaded, { nowMs: () => nowMs, compare });
  const readAt = async (atMs: number) => {
    nowMs = atMs;
    const { state, differs } = await comparison.read();
    return [state, ...differs, reads];
  };
  expect(await readAt(0)).toEqual(['same', 1]);
  expect(await readAt(1000)).toEqual(['same', 2]);
  expect(await readAt(2000)).toEqual(['same', 3]);
  expect(await readAt(9000)).toEqual(['same', 3]);
  await dir.write(START.replace('8080', '9090 # changed'));
  expect(await readAt(9001)).toEqual(['changed', 'http.port', 4]);
  expect(await readAt(20_000)).toEqual(['changed', 'http.port', 5]);
  expect(await readAt(30_000)).toEqual(['changed', 'http.port', 5]);
  await rm(join(dir.path, 'porthole.toml'));
  expect(await readAt(30_001)).toEqual(['missing', 6]);
  expect(await readAt(40_000)).toEqual(['missing', 7]);
  await dir.write(START);
  expect(await readAt(40_001)).toEqual(['same', 8]);
});

test('without a file there is nothing to compare', async () => {
  expect(await new DiskComparison(await dir.load()).read()).toEqual({ state: 'none', differs: [], detail: null });
});
