import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, it } from 'vitest';
import { ConfigHistory } from './config-history.ts';

const bytesOf = (dir: string) => readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);

it('the oldest configurations make room before a new one is written, by their number and their size', async () => {
  const dir = join(tempDir(), 'history');
  const history = new ConfigHistory(dir, { maxVersions: 5, maxBytes: 10_000 });
  const added: string[] = [];
  for (let n = 0; n < 20; n++) {
    const length = n < 10 ? 100 : 3000;
    added.push((await history.add(`${n}`.padEnd(length, '#'), [])).version);
    expect(bytesOf(dir)).toBeLessThanOrEqual(10_000);
    expect(readdirSync(dir).length).toBeLessThanOrEqual(5);
  }
  expect(await history.versions()).toEqual(new Set(added.slice(-3)));
  expect(await history.get(added.at(-1) ?? '')).toMatchObject({ settings: [] });
});

it('one that is larger than all may be is not stored, and the others stay', async () => {
  const history = new ConfigHistory(join(tempDir(), 'history'), { maxBytes: 1000 });
  const { version } = await history.add('small', []);
  const large = await history.add('#'.repeat(2000), []);
  expect(await history.get(large.version)).toBeUndefined();
  expect(await history.versions()).toEqual(new Set([version]));
});
