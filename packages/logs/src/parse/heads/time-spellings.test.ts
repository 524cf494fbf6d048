import { expect, test } from 'vitest';
import { createWrittenTime, readWrittenTime } from './time-spellings.ts';

test.each([
  ['2026-01-01 00:00:00', 2026],
  ['1000-01-01 00:00:00', 1000],
  ['0000-01-01 00:00:00', undefined],
  ['0999-12-31 23:59:59', undefined],
  ['01/Jan/0000:00:00:00 +0000', undefined],
  ['Jan  1 00:00:00', 0],
])('the year of %s is %s: a year that is given is never taken for none', (text, year) => {
  const time = createWrittenTime();
  const isFound = readWrittenTime(Buffer.from(text), 0, text.length, time);
  expect(isFound ? time.year : undefined).toBe(year);
});
