import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createZone } from './zone.ts';

const HOUR_MS = 3_600_000;
const at = (iso: string) => Date.parse(`${iso}Z`);

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'America/St_Johns',
].concat(['Pacific/Apia', 'Africa/Casablanca', 'Pacific/Kiritimati', 'Africa/Monrovia']);

describe('the offset of an instant', () => {
  test.each([
    ['UTC', '2024-07-01T00:00', 0],
    ['Europe/Berlin', '2024-01-01T00:00', 1],
    ['Europe/Berlin', '2024-07-01T00:00', 2],
    ['America/New_York', '2024-01-01T00:00', -5],
    ['America/New_York', '2024-07-01T00:00', -4],
    ['Australia/Lord_Howe', '2024-01-01T00:00', 11],
    ['Australia/Lord_Howe', '2024-07-01T00:00', 10.5],
    ['Asia/Kathmandu', '2024-07-01T00:00', 5.75],
    ['Asia/Kathmandu', '1985-07-01T00:00', 5.5],
    ['Pacific/Kiritimati', '2024-07-01T00:00', 14],
  ])('in %s at %s is %d hours', (name, iso, hours) => {
    expect(createZone(name).offsetMsAt(at(iso))).toBe(hours * HOUR_MS);
  });

  test('changes at the exact millisecond of a clock change', () => {
    const zone = createZone('Europe/Berlin');
    const change = at('2024-03-31T01:00');
    expect([change - 1, change, change + 1].map((ms) => zone.offsetMsAt(ms) / HOUR_MS)).toEqual([1, 2, 2]);
  });

  test('is correct even if clocks changed between two quarters of an hour', () => {
    // Liberia went to UTC on 1972-01-07 at 00:44:30 UTC.
    const zone = createZone('Africa/Monrovia');
    const change = at('1972-01-07T00:44:30');
    expect([change - 1000, change - 1, change, change + 1].map((ms) => zone.offsetMsAt(ms) / 1000)).toEqual([
      -2670, -2670, 0, 0,
    ]);
  });

  test('equals that of the system, for any instant, in any order', () => {
    const instant = fc.integer({ min: at('1970-01-01T00:00'), max: at('2060-01-01T00:00') });
    for (const name of ZONES) {
      const zone = createZone(name);
      const format = new Intl.DateTimeFormat('sv-SE', { timeZone: name, dateStyle: 'short', timeStyle: 'medium' });
      fc.assert(
        fc.property(instant, (ms) => {
          const wall = at(format.format(ms).replace(' ', 'T')) + (ms % 1000);
          expect(zone.offsetMsAt(ms)).toBe(wall - ms);
        }),
        { numRuns: runs(50) },
      );
    }
  });

  test('is cheap for instants close to each other, and for more of them than are cached', () => {
    const zone = createZone('Europe/Berlin');
    const from = at('2024-03-31T00:30');
    // With a system lookup for each, this would time out.
    for (let turn = 0; turn < 10_000_000; turn++) zone.offsetMsAt(from + turn / 2);
    for (let quarter = 0; quarter < 6000; quarter++) zone.offsetMsAt(from + quarter * 900_000);
    expect(zone.offsetMsAt(from)).toBe(HOUR_MS);
  });
});

describe('the instant of a wall-clock time', () => {
  const cases: [string, string, string, string][] = [
    ['UTC', 'a usual time', '2024-08-16T09:48:23.118', '2024-08-16T09:48:23.118'],
    ['Europe/Berlin', 'a summer time', '2024-08-16T09:48:23.118', '2024-08-16T07:48:23.118'],
    ['Europe/Berlin', 'a winter time', '2024-01-16T09:48:23.118', '2024-01-16T08:48:23.118'],
    ['Europe/Berlin', 'before the gap', '2024-03-31T01:59:59.999', '2024-03-31T00:59:59.999'],
    ['Europe/Berlin', 'in the gap', '2024-03-31T02:30:00', '2024-03-31T01:30:00'],
    ['Europe/Berlin', 'after the gap', '2024-03-31T03:00:00', '2024-03-31T01:00:00'],
    ['Europe/Berlin', 'before the fold', '2024-10-27T01:59:59.999', '2024-10-26T23:59:59.999'],
    ['Europe/Berlin', 'in the fold, the earlier', '2024-10-27T02:30:00', '2024-10-27T00:30:00'],
    ['Europe/Berlin', 'after the fold', '2024-10-27T03:00:00', '2024-10-27T02:00:00'],
    ['America/New_York', 'in the gap', '2024-03-10T02:30:00', '2024-03-10T07:30:00'],
    ['America/New_York', 'after the gap', '2024-03-10T03:00:00', '2024-03-10T07:00:00'],
    ['America/New_York', 'in the fold, the earlier', '2024-11-03T01:30:00', '2024-11-03T05:30:00'],
    ['America/New_York', 'after the fold', '2024-11-03T02:00:00', '2024-11-03T07:00:00'],
    ['Australia/Lord_Howe', 'in the gap of half an hour', '2024-10-06T02:15:00', '2024-10-05T15:45:00'],
    ['Australia/Lord_Howe', 'after that gap', '2024-10-06T02:30:00', '2024-10-05T15:30:00'],
    ['Australia/Lord_Howe', 'in the fold, the earlier', '2024-04-07T01:45:00', '2024-04-06T14:45:00'],
    ['Australia/Lord_Howe', 'after the fold', '2024-04-07T02:00:00', '2024-04-06T15:30:00'],
    ['Asia/Kathmandu', 'a usual time', '2024-08-16T09:48:23', '2024-08-16T04:03:23'],
    ['Pacific/Apia', 'in a day that never was', '2011-12-30T12:00:00', '2011-12-30T22:00:00'],
  ];
  test.each(cases)('%s: %s', (name, _, local, instant) => {
    expect(new Date(createZone(name).toEpochMs(at(local))).toISOString()).toBe(new Date(at(instant)).toISOString());
  });

  test('converted from an instant is that instant, or the other side of a fold', () => {
    const anywhere = fc.integer({ min: at('1973-01-01T00:00'), max: at('2060-01-01T00:00') });
    const nearChange = fc
      .tuple(
        fc.constantFrom(at('2024-03-31T01:00'), at('2024-10-27T01:00'), at('2024-11-03T06:00'), at('2024-04-06T15:00')),
        fc.integer({ min: -3 * HOUR_MS, max: 3 * HOUR_MS }),
      )
      .map(([change, delta]) => change + delta);
    for (const name of ZONES) {
      const zone = createZone(name);
      fc.assert(
        fc.property(fc.oneof(anywhere, nearChange), (epochMs) => {
          const localMs = epochMs + zone.offsetMsAt(epochMs);
          const back = zone.toEpochMs(localMs);
          expect(back).toBeLessThanOrEqual(epochMs);
          expect(back + zone.offsetMsAt(back)).toBe(localMs);
        }),
        { numRuns: runs(75) },
      );
    }
  });

  test('is cheap on days of a clock change, too', () => {
    const zone = createZone('Europe/Berlin');
    const from = at('2024-10-27T02:00');
    for (let turn = 0; turn < 3_000_000; turn++) zone.toEpochMs(from + turn / 2);
    expect(zone.toEpochMs(from)).toBe(from - 2 * HOUR_MS);
  });
});

test('an empty name is the system zone; an unknown name is rejected', () => {
  expect(createZone().name).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone);
  expect(createZone('Europe/Berlin').name).toBe('Europe/Berlin');
  expect(() => createZone('Mars/Olympus')).toThrow(RangeError);
});

test('has an offset at the limits of Date, and beyond', () => {
  const zone = createZone('Asia/Kolkata');
  for (const epochMs of [8.64e15, 8.64e15 + HOUR_MS, -8.64e15 - 4 * HOUR_MS])
    expect(Math.abs(zone.offsetMsAt(epochMs))).toBeLessThan(7 * HOUR_MS);
});
