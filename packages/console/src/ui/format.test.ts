import { describe, expect, test } from 'vitest';
import {
  formatAge,
  formatCount,
  formatDate,
  formatMinute,
  formatSecond,
  formatShortTime,
  formatSpan,
  formatTime,
  recordedText,
  zoneLabel,
} from './format.ts';

const NOW = Date.UTC(2026, 10, 15, 10, 41, 7, 5);

const ARCHIVE = { count: 1, beforeMs: null, shippedFromMs: 1, shippedToMs: 20, lostBytes: 0 };

describe('times', () => {
  test('are formatted to the millisecond, second or minute', () => {
    expect(formatTime(NOW, 'utc')).toBe('10:41:07.005');
    expect(formatSecond(NOW, 'utc')).toBe('10:41:07');
    expect(formatMinute(NOW, 'utc')).toBe('10:41');
    expect(formatDate(NOW, 'utc')).toBe('15 Nov 2026');
  });

  test('use the time zone of the browser', () => {
    const date = new Date(NOW);
    expect(formatMinute(NOW, 'local')).toBe(date.toTimeString().slice(0, 5));
    expect(formatDate(NOW, 'local')).toContain(String(date.getDate()));
  });

  test.each([
    [NOW - 60_000, '10:40'],
    [Date.UTC(2026, 10, 12, 8, 14), '12 Nov 08:14'],
    [Date.UTC(2025, 0, 2, 8, 14), '2 Jan 2025 08:14'],
  ])('of another day or year include the date (%d)', (timeMs, text) => {
    expect(formatShortTime(timeMs, 'utc', NOW)).toBe(text);
  });

  test('include the zone', () => {
    expect(zoneLabel('utc', NOW)).toBe('UTC');
    expect(zoneLabel('local', NOW)).toMatch(/^UTC([+−]\d\d:\d\d)?$/);
  });
});

test.each([
  [0, '0 ms'],
  [412.4, '412 ms'],
  [1250, '1.2 s'],
  [9999, '9.9 s'],
  [42_900, '42 s'],
  [252_000, '4 min 12 s'],
  [3_600_000, '1 h'],
  [11_100_000, '3 h 5 min'],
  [2 * 86_400_000 + 4 * 3_600_000, '2 d 4 h'],
  [-5, '0 ms'],
])('a span of %d ms is %s', (spanMs, text) => {
  expect(formatSpan(spanMs)).toBe(text);
});

test.each([
  [{ recordedBy: 'n1', missingMs: 3_600_000 }, 'recorded by n1, until 10:41:07.005 (1 h before it was lost)'],
  [{ recordedBy: 'n1', missingMs: 300 }, 'recorded by n1, until 10:41:07.005 (0.3 s before it was lost)'],
  [{ recordedBy: 'n1', missingMs: 0 }, 'recorded by n1, until 10:41:07.005'],
  [{ recordedBy: 'n1', archive: ARCHIVE }, 'recorded by n1, until 10:41:07.005; older lines are from the archive'],
  [{ archive: ARCHIVE }, 'from the archive, until 10:41:07.005'],
  [{}, 'known until 10:41:07.005'],
])('says what is shown of a node that does not respond: %j', (report, text) => {
  expect(recordedText({ ...report, asOfMs: NOW }, 'utc')).toBe(text);
});

test('formats ages, and future times as just now', () => {
  expect(formatAge(NOW - 252_000, NOW)).toBe('4 min 12 s ago');
  expect(formatAge(NOW + 500, NOW)).toBe('just now');
});

test('counts have separators', () => {
  expect(formatCount(41_880)).toBe('41,880');
});
