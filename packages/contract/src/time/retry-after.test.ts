import { expect, it } from 'vitest';
import { readRetryAfter } from './retry-after.ts';

it.each([
  ['7', 7000],
  [' 0 ', 0],
  ['Thu, 01 Jan 1970 00:00:05 GMT', 4000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['soon', undefined],
  ['-3', undefined],
  ['', undefined],
  [null, undefined],
])('%j is %j ms', (header, expected) => {
  expect(readRetryAfter(header, 1000)).toBe(expected);
});
