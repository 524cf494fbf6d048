import { expect, test } from 'vitest';
import { checkOpenFiles } from './open-files.ts';
import { runCheck } from './testing/run-check.ts';

const settings = { http: { maxStreams: 1000 } };

test.each([
  [Number.POSITIVE_INFINITY, 'ok', 'any number of files may be open, http.max-streams = 1000 needs about 2128'],
  [2128, 'ok', '2128 files may be open, http.max-streams = 1000 needs about 2128'],
  [1024, 'warning', 'only 1024 files may be open, but http.max-streams = 1000 needs about 2128'],
])('a limit of %d is %s', async (limit, state, detail) => {
  expect(await runCheck(checkOpenFiles, { settings, system: { maxOpenFiles: async () => limit } })).toMatchObject([
    { state, detail },
  ]);
});

test('nothing is checked on a system that does not report the limit', async () => {
  expect(await runCheck(checkOpenFiles, { system: { maxOpenFiles: async () => undefined } })).toEqual([]);
});

test('this system reports its limit', async () => {
  expect(await runCheck(checkOpenFiles)).toMatchObject([{ detail: expect.stringContaining('may be open') }]);
});
