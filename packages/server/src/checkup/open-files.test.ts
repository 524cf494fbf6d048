import { expect, test } from 'vitest';
import { lookAtOpenFiles } from './open-files.ts';
import { lookAt } from './testing/look-at.ts';

const settings = { http: { maxStreams: 1000 } };

test.each([
  [Number.POSITIVE_INFINITY, 'ok', 'any number of files may be open, http.max-streams = 1000 needs about 2128'],
  [2128, 'ok', '2128 files may be open, http.max-streams = 1000 needs about 2128'],
  [1024, 'warning', 'only 1024 files may be open, but http.max-streams = 1000 needs about 2128'],
])('a limit of %d is %s', async (limit, state, detail) => {
  expect(await lookAt(lookAtOpenFiles, { settings, system: { maxOpenFiles: async () => limit } })).toMatchObject([
    { state, detail },
  ]);
});

test('a system that tells no limit is not judged', async () => {
  expect(await lookAt(lookAtOpenFiles, { system: { maxOpenFiles: async () => undefined } })).toEqual([]);
});

test('this system tells its limit', async () => {
  expect(await lookAt(lookAtOpenFiles)).toMatchObject([{ detail: expect.stringContaining('may be open') }]);
});
