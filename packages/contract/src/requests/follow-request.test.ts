import { describe, expect, it } from 'vitest';
import { CLOCK, describeRefusal } from '../testing/describe-refusal.ts';
import { parseFollowRequest } from './record-requests.ts';

const parse = (query: string, lastEventId?: string) =>
  parseFollowRequest(new URLSearchParams(query), CLOCK, lastEventId);

describe('a follow request', () => {
  it.each([
    ['', { start: 'end' }],
    ['back=&time=&cursor=&raw=', { start: 'end' }],
    ['back=0', { start: { back: 0 } }],
    ['back=10000', { start: { back: 10_000 } }],
    ['time=15m', { start: { timeMs: CLOCK.nowMs - 900_000 } }],
    ['cursor=abc', { start: { cursor: 'abc' } }],
    ['cursor=abc&time=0', { start: { cursor: 'abc', sinceMs: 0 } }],
    [
      'src=a.log&level=error&q=x&raw=true',
      { src: ['a.log'], minLevel: 'ERROR', terms: ['x'], raw: true, start: 'end' },
    ],
  ])('%j', (query, expected) => {
    expect(parse(query)).toEqual(expected);
  });

  it.each(['time=15m', 'cursor=abc&time=15m'])(
    'a time counts for logs that the last event does not name: %j',
    (query) => {
      expect(parse(query, 'seen')).toEqual({ start: { cursor: 'seen', sinceMs: CLOCK.nowMs - 900_000 } });
    },
  );

  it.each([
    ['back=10001', /^PARAMETER_INVALID: invalid "back" "10001": expected a whole number from 0 to 10000$/],
    ['back=-1', /^PARAMETER_INVALID: invalid "back"/],
    ['time=noon', /^PARAMETER_INVALID: invalid "time" "noon"/],
    ['back=1&time=now', /^PARAMETER_INVALID: give one of "back", "time" and "cursor"/],
    ['back=1&cursor=a', /^PARAMETER_INVALID: give one of/],
    ['back=1&cursor=a&time=0', /^PARAMETER_INVALID: give one of/],
    ['raw=1', /^PARAMETER_INVALID: invalid "raw"/],
    ['src=a/b&src=b%20c/d', /^PARAMETER_INVALID/],
  ])('%j is refused', (query, refusal) => {
    expect(describeRefusal(() => parse(query))).toMatch(refusal);
    expect(describeRefusal(() => parse(query, 'seen'))).toMatch(refusal);
  });
});
