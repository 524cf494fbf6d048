import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLOCK } from '../testing/describe-refusal.ts';
import { durationText, parseSpan, readTime } from './time-text.ts';

const { nowMs } = CLOCK;
const HOUR_MS = 3_600_000;

describe('a time', () => {
  it.each([
    ['now', nowMs],
    ['0', 0],
    ['1794743999123', 1_794_743_999_123],
    ['@8640000000000', 8.64e15],
    ['@-0.001', -1],
    ['@-8640000000000', -8.64e15],
    ['-1790812800', -1_790_812_800_000],
    ['90s', nowMs - 90_000],
    ['15m', nowMs - 900_000],
    ['2h', nowMs - 2 * HOUR_MS],
    ['7d', nowMs - 7 * 24 * HOUR_MS],
    ['1w', nowMs - 7 * 24 * HOUR_MS],
    ['250ms', nowMs - 250],
    ['0s', nowMs],
    ['2026-11-15T10:20:30.456Z', Date.UTC(2026, 10, 15, 10, 20, 30, 456)],
    ['2026-11-15t10:20:30z', Date.UTC(2026, 10, 15, 10, 20, 30)],
    ['2026-11-15T10:20:30.456789123Z', Date.UTC(2026, 10, 15, 10, 20, 30, 456)],
    ['2026-11-15T10:20:30,5Z', Date.UTC(2026, 10, 15, 10, 20, 30, 500)],
    ['2026-11-15T10:20Z', Date.UTC(2026, 10, 15, 10, 20)],
    ['2026-11-15T10:20:30+05:30', Date.UTC(2026, 10, 15, 4, 50, 30)],
    ['2026-11-15T10:20:30-0800', Date.UTC(2026, 10, 15, 18, 20, 30)],
    ['2026-11-15T10:20:30 05:30', Date.UTC(2026, 10, 15, 4, 50, 30)], // a `+` that was not escaped
    ['2026-11-15T23:59:60Z', Date.UTC(2026, 10, 16)],
    ['2024-02-29T00:00Z', Date.UTC(2024, 1, 29)],
    ['0001-01-01T00:00Z', Date.parse('0001-01-01T00:00:00Z')],
    // Without a zone: the zone of the logs.
    ['2026-11-15T10:20:30.456', Date.UTC(2026, 10, 15, 8, 20, 30, 456)],
    ['2026-11-15 10:20:30', Date.UTC(2026, 10, 15, 8, 20, 30)],
    ['2026-11-15 10:20', Date.UTC(2026, 10, 15, 8, 20)],
    ['2026-11-15', Date.UTC(2026, 10, 14, 22)],
    ['today', Date.UTC(2026, 10, 14, 22)],
    ['yesterday', Date.UTC(2026, 10, 13, 22)],
    ['yesterday 14:00', Date.UTC(2026, 10, 14, 12)],
    ['today 9:05:07.5', Date.UTC(2026, 10, 15, 7, 5, 7, 500)],
    ['14:00', Date.UTC(2026, 10, 15, 12)],
    ['14:00:00.001', Date.UTC(2026, 10, 14, 12, 0, 0, 1)], // not yet today
    ['Yesterday  18:00', Date.UTC(2026, 10, 14, 16)],
    [' NOW ', nowMs],
    ['-5m', nowMs - 300_000],
    ['5 m', nowMs - 300_000],
    // Months are those of the calendar; 15 November 2026 is a Sunday.
    ['1mo', Date.UTC(2026, 9, 15, 12)],
    ['-2 months', Date.UTC(2026, 8, 15, 12)],
    ['9 Months ago', Date.UTC(2026, 1, 15, 12)],
    ['1 month 2 days ago', Date.UTC(2026, 9, 13, 12)],
    ['1mo1h', Date.UTC(2026, 9, 15, 11)],
    ['last month', Date.UTC(2026, 8, 30, 22)],
    ['Last Month 14:00', Date.UTC(2026, 9, 1, 12)],
    ['this month', Date.UTC(2026, 9, 31, 22)],
    ['last week', Date.UTC(2026, 10, 1, 22)],
    ['this week', Date.UTC(2026, 10, 8, 22)],
    ['2 Days Ago', nowMs - 2 * 24 * HOUR_MS],
    ['2026-11-15T10:20:30 UTC', Date.UTC(2026, 10, 15, 10, 20, 30)],
    ['2026-11-15T10:20:30+05', Date.UTC(2026, 10, 15, 5, 20, 30)],
  ])('%s', (text, timeMs) => {
    expect(readTime(text, CLOCK)).toEqual({ timeMs });
  });

  it.each([
    'yesterday 24:00',
    'last year',
    'last monthly',
    '1.5mo',
    '1mon',
    '99999mo',
    'yesterday14:00',
    'today 9',
    '12:60',
    'tomorrow',
    '+5m',
    '5M',
    '5y',
    'm',
    '1e3',
    '0x10',
    '1000',
    '20261115',
    '1790812800123.5',
    '@8640000000001',
    '@',
    '@1e3',
    '',
    '1m30',
    '1h ago ago',
    '2026-11-15 14:05 15:00 UTC',
    '14:05 02:00',
    '2026-11-1514:05',
    '9'.repeat(400),
    `${'9'.repeat(15)}w`,
    '2026-11',
    '2026-13-01',
    '2026-00-01',
    '2026-02-29',
    '2026-11-31T00:00Z',
    '2026-11-15T10Z',
    '2026-11-15T24:00Z',
    '2026-11-15T10:60Z',
    '2026-11-15T10:20:61Z',
    '2026-11-15T10:20:30.Z',
    '2026-11-15T10:20:30+24:00',
    '2026-11-15T10:20:30+05:60',
    '2026-11-15T10:20:30+5',
    '٢٠٢٦-١١-١٥',
    '20261115T102030Z',
    '2026/11/15',
  ])('%j is refused', (text) => {
    expect(readTime(text, CLOCK)).toHaveProperty('problem');
  });

  it('is a whole number within the range of dates, whatever was given, or refused', () => {
    const text = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[0-9]{1,20}[a-z]{0,2}$/),
      fc.stringMatching(/^[-0-9T:.Z+ ]*$/),
    );
    fc.assert(
      fc.property(text, (given) => {
        const reading = readTime(given, CLOCK);
        if ('problem' in reading) return reading.problem !== '' && reading.problem.length < 250;
        return Number.isInteger(reading.timeMs) && Math.abs(reading.timeMs) <= 8.64e15;
      }),
      { numRuns: runs(2500) },
    );
  });

  it('is read back from what a date writes', () => {
    const date = fc.date({ min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z') });
    fc.assert(
      fc.property(date, (when) => {
        expect(readTime(when.toISOString(), CLOCK)).toEqual({ timeMs: when.getTime() });
      }),
    );
  });
});

it('a month before a day that the other month does not have is its last day', () => {
  const clock = { nowMs: Date.UTC(2026, 2, 31, 10), offsetMsAt: () => 0 };
  expect(readTime('1mo', clock)).toEqual({ timeMs: Date.UTC(2026, 1, 28, 10) });
  expect(readTime('25mo', clock)).toEqual({ timeMs: Date.UTC(2024, 1, 29, 10) });
});

describe('a span of time', () => {
  it.each([
    ['500', 500],
    ['500ms', 500],
    ['1s', 1000],
    ['5m', 300_000],
    ['1h', HOUR_MS],
    ['1d', 24 * HOUR_MS],
    ['2w', 14 * 24 * HOUR_MS],
    ['0', 0],
    ['1m1s', 61_000],
    ['1 m', 60_000],
    ['1.5m', 90_000],
  ])('%s', (text, spanMs) => {
    expect(parseSpan(text)).toBe(spanMs);
  });

  it.each(['', 'm', '-1m', '1m ago', '1M', '1y', '1mo', `${'9'.repeat(15)}w`, '9'.repeat(16), '1m1'])(
    '%j is refused',
    (text) => {
      expect(parseSpan(text)).toBeUndefined();
    },
  );
});

it('a duration is written in the largest unit that divides it, and read back as the same', () => {
  const texts = [0, 1, 90_000, 5_400_000, 7 * 24 * HOUR_MS, HOUR_MS + 1].map(durationText);
  expect(texts).toEqual(['0s', '1ms', '90s', '90m', '7d', '3600001ms']);
  expect(texts.map(parseSpan)).toEqual([0, 1, 90_000, 5_400_000, 7 * 24 * HOUR_MS, HOUR_MS + 1]);
});
