import { expect, test } from 'vitest';
import { lookAtClock } from './clock.ts';
import { lookAt } from './testing/look-at.ts';

test('a clock after everything that was installed can be right', async () => {
  expect(await lookAt(lookAtClock)).toMatchObject([{ state: 'ok', detail: expect.stringMatching(/^it is 2.*Z$/) }]);
});

test('a clock before the program was written is wrong', async () => {
  const [look] = await lookAt(lookAtClock, { system: { nowMs: () => Date.parse('2001-02-03T04:05:06Z') } });
  expect(look).toMatchObject({
    state: 'problem',
    detail: expect.stringMatching(/^it is 2001-02-03T04:05:06\.000Z here, but .* the clock is wrong$/),
    remedy: expect.stringContaining('timedatectl set-ntp true'),
  });
});
