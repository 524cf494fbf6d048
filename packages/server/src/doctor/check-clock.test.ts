import { expect, test } from 'vitest';
import { checkClock } from './check-clock.ts';
import { runCheck } from './testing/run-check.ts';

test('a clock after the installation of the program is plausible', async () => {
  expect(await runCheck(checkClock)).toMatchObject([
    { state: 'ok', detail: expect.stringMatching(/^the time is 2.*Z$/) },
  ]);
});

test('a clock before the installation of the program is wrong', async () => {
  const [outcome] = await runCheck(checkClock, { system: { nowMs: () => Date.parse('2001-02-03T04:05:06Z') } });
  expect(outcome).toMatchObject({
    state: 'problem',
    detail: expect.stringMatching(/^the time is 2001-02-03T04:05:06\.000Z, but .* the clock is wrong$/),
    remedy: expect.stringContaining('timedatectl set-ntp true'),
  });
});
