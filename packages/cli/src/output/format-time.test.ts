import { createZone } from '@porthole/logs';
import { expect, it } from 'vitest';
import { formatInstant, formatTime } from './format-units.ts';

const timeMs = Date.UTC(2026, 10, 15, 5, 4, 3, 21);

it.each([
  ['UTC', '2026-11-15 05:04:03.021', '2026-11-15T05:04:03.021Z'],
  ['Asia/Kolkata', '2026-11-15 10:34:03.021', '2026-11-15T10:34:03.021+05:30'],
  ['America/St_Johns', '2026-11-15 01:34:03.021', '2026-11-15T01:34:03.021-03:30'],
])('in %s it is %s', (name, shown, instant) => {
  const zone = createZone(name);
  expect(formatTime(timeMs, zone)).toBe(shown);
  expect(formatInstant(timeMs, zone)).toBe(instant);
  expect(Date.parse(instant)).toBe(timeMs);
});
