import { describe, expect, it } from 'vitest';
import { evaluateConditions, rangeStillHolds } from './route-response.ts';

const file = { etag: '"abc"', modifiedMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678) };
const [before, same, after] = ['02 Jan 2026 03:04:04', '02 Jan 2026 03:04:05', '02 Jan 2026 03:04:06'].map(
  (time) => `Fri, ${time} GMT`,
);

describe('a conditional request', () => {
  it.each([
    [{}, 'proceed'],
    [{ 'if-none-match': '"abc"' }, 'not-modified'],
    [{ 'if-none-match': 'W/"abc"' }, 'not-modified'],
    [{ 'if-none-match': '"x", "abc" ,"y"' }, 'not-modified'],
    [{ 'if-none-match': '*' }, 'not-modified'],
    [{ 'if-none-match': '"x"' }, 'proceed'],
    [{ 'if-none-match': 'abc' }, 'proceed'],
    [{ 'if-modified-since': same }, 'proceed'],
    [{ 'if-modified-since': after }, 'proceed'],
    [{ 'if-modified-since': before }, 'proceed'],
    [{ 'if-modified-since': 'yesterday' }, 'proceed'],
    [{ 'if-none-match': '"x"', 'if-modified-since': after }, 'proceed'],
    [{ 'if-match': '"abc"' }, 'proceed'],
    [{ 'if-match': '*' }, 'proceed'],
    [{ 'if-match': 'W/"abc"' }, 'failed'],
    [{ 'if-match': '"x"' }, 'failed'],
    [{ 'if-unmodified-since': same }, 'proceed'],
    [{ 'if-unmodified-since': after }, 'proceed'],
    [{ 'if-unmodified-since': before }, 'failed'],
    [{ 'if-unmodified-since': 'yesterday' }, 'proceed'],
    [{ 'if-match': '"abc"', 'if-unmodified-since': before }, 'proceed'],
    [{ 'if-match': '"abc"', 'if-none-match': '"abc"' }, 'not-modified'],
    [{ 'if-match': '"x"', 'if-none-match': '"abc"' }, 'failed'],
  ] as const)('with %j: %s', (headers, verdict) => {
    expect(evaluateConditions(headers, file)).toBe(verdict);
  });
});

describe('If-Range', () => {
  it.each([
    [undefined, true],
    ['"abc"', true],
    ['"x"', false],
    ['W/"abc"', false],
    [same, false], // a log may be written twice within the second of a date
    [before, false],
    ['nonsense', false],
  ])('%j holds: %s', (ifRange, holds) => {
    expect(rangeStillHolds(ifRange, file)).toBe(holds);
  });
});
