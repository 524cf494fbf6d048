import { expect, test } from 'vitest';
import { checkFollowing } from './check-log-files.ts';
import { runCheck } from './testing/run-check.ts';

const limits = (instances: number | undefined, watches: number | undefined) => ({
  inotifyLimit: async (name: string) => (name === 'max_user_instances' ? instances : watches),
});

test('limits that leave room are fine', async () => {
  expect(await runCheck(checkFollowing, { system: limits(128, 65_536) })).toEqual([
    { state: 'ok', detail: 'inotify allows 128 instances and 65536 watches per user; a node uses one of each' },
  ]);
});

test.each([
  [8, 65_536],
  [128, 100],
])('%i instances and %i watches are worth a warning', async (instances, watches) => {
  expect(await runCheck(checkFollowing, { system: limits(instances, watches) })).toMatchObject([
    { state: 'warning', remedy: expect.stringContaining('sysctl fs.inotify') },
  ]);
});

test('a system without inotify is fine', async () => {
  expect(await runCheck(checkFollowing, { system: limits(undefined, undefined) })).toEqual([
    { state: 'ok', detail: 'the system reports new lines' },
  ]);
});
