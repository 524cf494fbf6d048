import { expect, test } from 'vitest';
import { checkClock, checkTimeZone } from './check-ports.ts';
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

const winter = { nowMs: () => Date.parse('2026-01-15T12:00:00Z') };

test.each([
  ['UTC', 'UTC+00:00'],
  ['Europe/Berlin', 'UTC+01:00'],
  ['Asia/Tehran', 'UTC+03:30'],
  ['America/St_Johns', 'UTC-03:30'],
])('%s is reported with its current offset', async (timeZone, offset) => {
  expect(await runCheck(checkTimeZone, { settings: { node: { timeZone } }, system: winter })).toEqual([
    { state: 'ok', detail: `log timestamps without a zone are read as ${timeZone}, now ${offset} (node.time-zone)` },
  ]);
});

test('an invalid TZ is a warning, unless the zone is set', async () => {
  const env = { TZ: 'Mars/Olympus' };
  const [outcome] = await runCheck(checkTimeZone, { env });
  expect(outcome).toMatchObject({
    state: 'warning',
    detail: expect.stringContaining('TZ="Mars/Olympus" is not a time zone'),
  });
  const [chosen] = await runCheck(checkTimeZone, { env, settings: { node: { timeZone: 'UTC' } } });
  expect(chosen?.state).toBe('ok');
});
