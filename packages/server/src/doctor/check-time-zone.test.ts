import { expect, test } from 'vitest';
import { checkTimeZone } from './check-time-zone.ts';
import { runCheck } from './testing/run-check.ts';

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
