import { expect, test } from 'vitest';
import { checkClock } from './check-clock.ts';
import { runCheck } from './testing/run-check.ts';

test('a clock after everything that was installed can be right', async () => {
  expect(await runCheck(checkClock)).toMatchObject([{ state: 'ok', detail: expect.stringMatching(/^it is 2.*Z$/) }]);
});

test('a clock before the program was written is wrong', async () => {
  const [outcome] = await runCheck(checkClock, { system: { nowMs: () => Date.parse('2001-02-03T04:05:06Z') } });
  expect(outcome).toMatchObject({
    state: 'problem',
    detail: expect.stringMatching(/^it is 2001-02-03T04:05:06\.000Z here, but .* the clock is wrong$/),
    remedy: expect.stringContaining('timedatectl set-ntp true'),
  });
});
