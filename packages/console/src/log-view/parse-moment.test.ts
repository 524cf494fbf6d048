import { describe, expect, test } from 'vitest';
import { parseMoment } from './parse-moment.ts';

/** 2026-11-15 10:41:06 in UTC, 11:41:06 on the wall. */
const clock = { nowMs: Date.UTC(2026, 10, 15, 10, 41, 6), offsetMinutesAt: () => 60 };
const iso = (text: string) => {
  const timeMs = parseMoment(text, clock);
  return timeMs === undefined ? undefined : new Date(timeMs).toISOString();
};

describe('a time as people write it', () => {
  test.each([
    ['a time of day is one of today', '10:05', '2026-11-15T09:05:00.000Z'],
    ['with seconds', '10:05:30', '2026-11-15T09:05:30.000Z'],
    ['with milliseconds', '10:05:30.25', '2026-11-15T09:05:30.250Z'],
    ['one that is still to come is one of yesterday', '14:05', '2026-11-14T13:05:00.000Z'],
    ['a date and a time', '2026-11-15 14:05', '2026-11-15T13:05:00.000Z'],
    ['a date alone is its start', '2026-11-15', '2026-11-14T23:00:00.000Z'],
    ['so long ago', '-15m', '2026-11-15T10:26:06.000Z'],
    ['so many days ago', '-2d', '2026-11-13T10:41:06.000Z'],
    ['ISO with a zone', '2026-11-15T14:05:30.5+02:00', '2026-11-15T12:05:30.500Z'],
    ['ISO in UTC', '2026-11-15T14:05:30Z', '2026-11-15T14:05:30.000Z'],
    ['with blanks around', ' 10:05 ', '2026-11-15T09:05:00.000Z'],
  ])('%s', (_, text, expected) => {
    expect(iso(text)).toBe(expected);
  });

  test.each(['', 'soon', '25:00', '10:61', '2026-13-01', '2026-02-30', '15m', '-15y', '10'])('"%s" is none', (text) => {
    expect(iso(text)).toBeUndefined();
  });

  test('the offset is that of the moment, not that of now', () => {
    const change = Date.UTC(2026, 9, 25, 1);
    const summer = { nowMs: clock.nowMs, offsetMinutesAt: (ms: number) => (ms < change ? 120 : 60) };
    expect(parseMoment('2026-10-01 12:00', summer)).toBe(Date.UTC(2026, 9, 1, 10));
    expect(parseMoment('2026-11-01 12:00', summer)).toBe(Date.UTC(2026, 10, 1, 11));
  });
});
