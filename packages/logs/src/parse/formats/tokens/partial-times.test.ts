import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createZone } from '../../zone.ts';
import { createYearlessClock } from './partial-times.ts';

const HOUR_MS = 3_600_000;

const found = (written: string, month: number, day: number, hour = 0) => {
  const clock = createYearlessClock({ zone: createZone('Etc/GMT-8'), writtenMs: Date.parse(written) });
  const timeMs = clock(month, day, hour * HOUR_MS);
  return Number.isNaN(timeMs) ? undefined : new Date(timeMs).toISOString();
};

test.each([
  ['earlier in the year', '2026-11-15T00:00:00Z', 3, 1, 12, '2026-03-01T04:00:00.000Z'],
  ['later in the year: last year', '2026-11-15T00:00:00Z', 12, 1, 12, '2025-12-01T04:00:00.000Z'],
  ['hours ahead of the last write', '2026-11-15T00:00:00Z', 11, 16, 7, '2026-11-15T23:00:00.000Z'],
  ['more than a day ahead', '2026-11-15T00:00:00Z', 11, 16, 9, '2025-11-16T01:00:00.000Z'],
  ['written on New Year, in the old year', '2026-01-01T00:00:00Z', 12, 31, 23, '2025-12-31T15:00:00.000Z'],
  ['written on New Year’s Eve, in the new year', '2025-12-31T12:00:00Z', 1, 1, 1, '2025-12-31T17:00:00.000Z'],
  ['a leap day', '2026-11-15T00:00:00Z', 2, 29, 12, '2024-02-29T04:00:00.000Z'],
  ['a leap day across a year that has none', '1903-06-01T00:00:00Z', 2, 29, 12, '1896-02-29T04:00:00.000Z'],
])('%s', (_, written, month, day, hour, expected) => {
  expect(found(written, month, day, hour)).toBe(expected);
});

test.each([
  [0, 1],
  [13, 1],
  [2, 30],
  [4, 31],
  [1, 0],
  [-1, -1],
])('month %d has no day %d', (month, day) => {
  expect(found('2026-11-15T00:00:00Z', month, day)).toBeUndefined();
});

test('any time within the year before the last write keeps its year', () => {
  const zone = createZone('Etc/GMT-8');
  const writtenMs = Date.parse('2026-11-15T00:00:00Z');
  const clock = createYearlessClock({ zone, writtenMs });
  fc.assert(
    fc.property(fc.integer({ min: -363 * 24 * HOUR_MS, max: 24 * HOUR_MS }), (deltaMs) => {
      const local = new Date(writtenMs + deltaMs + 8 * HOUR_MS);
      const msOfDay = local.getTime() % (24 * HOUR_MS);
      expect(clock(local.getUTCMonth() + 1, local.getUTCDate(), msOfDay)).toBe(writtenMs + deltaMs);
    }),
  );
});
