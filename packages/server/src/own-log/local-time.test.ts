import { createZone } from '@porthole/logs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLocalTime } from './format-record.ts';

test.each([
  ['UTC', '2026-11-15T00:21:26.600Z', '2026-11-15 00:21:26.600'],
  ['Europe/Berlin', '2026-11-15T00:21:26.600Z', '2026-11-15 01:21:26.600'],
  ['Asia/Kathmandu', '2026-11-15T00:21:26.007Z', '2026-11-15 06:06:26.007'],
  ['America/St_Johns', '2026-12-31T23:59:59.999Z', '2026-12-31 20:29:59.999'],
  ['Pacific/Kiritimati', '2026-12-31T12:00:00.000Z', '2027-01-01 02:00:00.000'],
  // Clocks go forward at 01:00 UTC, and back.
  ['Europe/Berlin', '2026-03-29T00:59:59.999Z', '2026-03-29 01:59:59.999'],
  ['Europe/Berlin', '2026-03-29T01:00:00.000Z', '2026-03-29 03:00:00.000'],
  ['Europe/Berlin', '2026-10-25T00:59:59.999Z', '2026-10-25 02:59:59.999'],
  ['Europe/Berlin', '2026-10-25T01:00:00.000Z', '2026-10-25 02:00:00.000'],
  // Lord Howe moves by half an hour.
  ['Australia/Lord_Howe', '2026-10-03T15:29:59.000Z', '2026-10-04 01:59:59.000'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00.000Z', '2026-10-04 02:30:00.000'],
])('in %s, %s reads %s', (timeZone, iso, text) => {
  expect(createLocalTime(createZone(timeZone)).format(Date.parse(iso))).toBe(text);
});

test('the cached offset is dropped when the clock changes, in both directions', () => {
  const time = createLocalTime(createZone('Europe/Berlin'));
  const changeMs = Date.parse('2026-03-29T01:00:00.000Z');
  const texts = [changeMs - 1, changeMs, changeMs - 1].map((timeMs) => time.format(timeMs).slice(11));
  expect(texts).toEqual(['01:59:59.999', '03:00:00.000', '01:59:59.999']);
});

test('an empty name is the zone of the system', () => {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const timeMs = Date.parse('2026-07-01T12:34:56.789Z');
  expect(createLocalTime(createZone('')).format(timeMs)).toBe(createLocalTime(createZone(own)).format(timeMs));
});

test('a zone that does not exist is refused', () => {
  expect(() => createLocalTime(createZone('Mars/Olympus'))).toThrow(RangeError);
});

test('what was formatted reads back, except in the hour that a clock change repeats', () => {
  const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu');
  const times = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2035, 0) });
  fc.assert(
    fc.property(zones, times, (zone, timeMs) => {
      const time = createLocalTime(createZone(zone));
      const text = time.format(timeMs);
      const readMs = time.parse(text) ?? Number.NaN;
      expect(time.format(readMs)).toBe(text);
      expect(Math.abs(readMs - timeMs)).toBeLessThanOrEqual(3_600_000);
    }),
  );
});

test.each(['', 'hello', '2026-11-15T00:21:26.600', '2026-99-15 00:21:26.600'])('"%s" is not a local time', (text) => {
  expect(createLocalTime(createZone('UTC')).parse(text)).toBeUndefined();
});
