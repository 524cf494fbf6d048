import { expect, it } from 'vitest';
import { sendInterval } from './node-archive.ts';

it.each([
  ['one node sends as often as it is told', 1000, 1, 1000],
  ['so do a few', 1000, 20, 1000],
  ['many send less often', 1000, 300, 15_000],
  ['but not arbitrarily rarely', 1000, 100_000, 120_000],
  ['a longer interval is kept', 3_600_000, 300, 3_600_000],
])('%s', (_title, intervalMs, members, expected) => {
  expect(sendInterval(intervalMs, members)).toBe(expected);
});
