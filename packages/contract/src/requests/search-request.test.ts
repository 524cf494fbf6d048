import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../errors/errors.ts';
import { CLOCK, describeRefusal } from '../testing/describe-refusal.ts';
import { parseSearchRequest } from './record-requests.ts';

const parse = (query: string, maxRecords = 10_000) =>
  parseSearchRequest(new URLSearchParams(query), CLOCK, { maxRecords });

const DEFAULTS = { order: 'newest', limit: 200, before: 0, after: 0 };

describe('a search request', () => {
  it.each([
    ['', {}],
    ['order=&limit=&before=&after=&cursor=&record=&time=&offset=&until=&raw=', {}],
    ['order=oldest&limit=10000&before=100&after=0', { order: 'oldest', limit: 10_000, before: 100 }],
    ['limit=007', { limit: 7 }],
    ['store=nodes', { store: 'nodes' }],
    ['cursor=abc&until=def', { start: { cursor: 'abc' }, until: 'def' }],
    ['record=abc', { start: { record: 'abc' } }],
    ['time=1h', { start: { timeMs: CLOCK.nowMs - 3_600_000 } }],
    ['time=0', { start: { timeMs: 0 } }],
    ['src==a&offset=0', { src: ['=a'], start: { offset: 0 } }],
    ['src==a&offset=9007199254740991', { src: ['=a'], start: { offset: Number.MAX_SAFE_INTEGER } }],
    ['raw=true', { raw: true }],
    ['raw=false', {}],
    [
      'src=a.log&from=@0.001&to=@0.002&level=info&q=x&not=y&regex=z&case=sensitive&source=s&component=c',
      {
        src: ['a.log'],
        fromMs: 1,
        toMs: 2,
        minLevel: 'INFO',
        terms: ['x'],
        excluded: ['y'],
        regex: 'z',
        caseSensitive: true,
        source: 's',
        component: 'c',
      },
    ],
  ])('%j', (query, expected) => {
    expect(parse(query)).toEqual({ ...DEFAULTS, ...expected });
  });

  it.each([
    ['order=random', /^PARAMETER_INVALID: invalid "order" "random": expected newest or oldest$/],
    ['order=NEWEST', /^PARAMETER_INVALID: invalid "order"/],
    [
      'limit=0',
      /^PARAMETER_INVALID: invalid "limit" "0": expected a whole number from 1 to 10000 .*search\.max-records/,
    ],
    ['limit=10001', /search\.max-records/],
    ['limit=-1', /^PARAMETER_INVALID: invalid "limit"/],
    ['limit=1.5', /^PARAMETER_INVALID: invalid "limit"/],
    ['limit=1e3', /^PARAMETER_INVALID: invalid "limit"/],
    ['limit=%2B5', /^PARAMETER_INVALID: invalid "limit"/],
    ['limit=NaN', /^PARAMETER_INVALID: invalid "limit"/],
    ['limit=Infinity', /^PARAMETER_INVALID: invalid "limit"/],
    ['limit=99999999999999999999', /^PARAMETER_INVALID: invalid "limit"/],
    ['limit=5%0A', /^PARAMETER_INVALID: invalid "limit"/],
    ['before=101', /^PARAMETER_INVALID: invalid "before" "101": expected a whole number from 0 to 100$/],
    ['after=101', /^PARAMETER_INVALID: invalid "after"/],
    ['raw=yes', /^PARAMETER_INVALID: invalid "raw" "yes": expected true or false$/],
    ['raw=TRUE', /^PARAMETER_INVALID: invalid "raw"/],
    ['time=noon', /^PARAMETER_INVALID: invalid "time" "noon"/],
    ['offset=5', /^PARAMETER_INVALID: "offset" is a position in one file/],
    ['src==a&offset=-5', /^PARAMETER_INVALID: invalid "offset" "-5": expected a whole number of at least 0$/],
    ['src==a&offset=9007199254740992', /^PARAMETER_INVALID: invalid "offset"/],
    ['cursor=a&record=b', /^PARAMETER_INVALID: give one of "cursor", "record", "time" and "offset"/],
    ['cursor=a&time=now', /^PARAMETER_INVALID: give one of/],
    ['src==f&record=a&offset=0', /^PARAMETER_INVALID: give one of/],
    ['time=0&src==f&offset=0', /^PARAMETER_INVALID: give one of/],
    ['limit=1&limit=1', /^BAD_REQUEST/],
    ['cursor=a&cursor=b', /^BAD_REQUEST/],
    ['src=b%20c/d', /^PARAMETER_INVALID: invalid "src"/],
    ['src=a/', /^LOG_FAMILY_NOT_FOUND/],
    ['src==', /^FILE_NAME_MISSING/],
    ['from=@2&to=@1', /^PARAMETER_INVALID/],
  ])('%j is refused', (query, refusal) => {
    expect(describeRefusal(() => parse(query))).toMatch(refusal);
  });

  it('is within its limits whatever was given, or is refused by name', () => {
    const names = ['limit', 'before', 'after', 'offset', 'time', 'order', 'raw', 'level', 'from', 'to', 'case', 'q'];
    const value = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[0-9+-.e]{0,20}$/),
      fc.constantFrom('true', 'now', 'oldest'),
    );
    const pairs = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 5 });
    fc.assert(
      fc.property(pairs, (given) => {
        try {
          const { limit, before, after } = parse(new URLSearchParams(given).toString());
          return limit >= 1 && limit <= 10_000 && before <= 100 && after <= 100;
        } catch (error) {
          return ['PARAMETER_INVALID', 'BAD_REQUEST'].includes(codeOf(error));
        }
      }),
      { numRuns: runs(1500) },
    );
  });
});
