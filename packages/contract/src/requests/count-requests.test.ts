import { describe, expect, it } from 'vitest';
import { CLOCK, describeRefusal } from '../testing/describe-refusal.ts';
import { parseCount, parseExplainRequest } from './record-requests.ts';

describe('a histogram request', () => {
  const parse = (query: string) => parseCount('logHistogram', new URLSearchParams(query), CLOCK);

  it.each([
    ['', { buckets: 60 }],
    ['bucket=&buckets=', { buckets: 60 }],
    ['bucket=1m', { bucketMs: 60_000, buckets: 60 }],
    ['bucket=1', { bucketMs: 1, buckets: 60 }],
    ['bucket=250ms&buckets=1000', { bucketMs: 250, buckets: 1000 }],
    ['src=a.log&from=@0.001&level=warn', { src: ['a.log'], fromMs: 1, minLevel: 'WARN', buckets: 60 }],
  ])('%j', (query, expected) => {
    expect(parse(query)).toEqual(expected);
  });

  it.each([
    ['bucket=0', /^PARAMETER_INVALID: invalid "bucket" "0": expected a duration like 1m/],
    ['bucket=0s', /^PARAMETER_INVALID: invalid "bucket"/],
    ['bucket=-1m', /^PARAMETER_INVALID: invalid "bucket"/],
    ['bucket=1.5', /^PARAMETER_INVALID: invalid "bucket"/],
    ['bucket=minute', /^PARAMETER_INVALID: invalid "bucket"/],
    ['buckets=0', /^PARAMETER_INVALID: invalid "buckets" "0": expected a whole number from 1 to 1000$/],
    ['buckets=1001', /^PARAMETER_INVALID: invalid "buckets"/],
    ['bucket=1m&bucket=2m', /^BAD_REQUEST/],
    ['from=@2&to=@1', /^PARAMETER_INVALID/],
  ])('%j is refused', (query, refusal) => {
    expect(describeRefusal(() => parse(query))).toMatch(refusal);
  });
});

describe('a digest request', () => {
  const parse = (query: string) => parseCount('logDigest', new URLSearchParams(query), CLOCK);

  it.each([
    ['', { limit: 50 }],
    ['limit=1000&newSince=1h', { limit: 1000, newSinceMs: CLOCK.nowMs - 3_600_000 }],
    ['newSince=0&onlyNew=true', { limit: 50, newSinceMs: 0, onlyNew: true }],
    ['onlyNew=false', { limit: 50 }],
    ['src==a&q=x', { src: ['=a'], terms: ['x'], limit: 50 }],
  ])('%j', (query, expected) => {
    expect(parse(query)).toEqual(expected);
  });

  it.each([
    ['limit=0', /^PARAMETER_INVALID: invalid "limit" "0": expected a whole number from 1 to 1000$/],
    ['limit=1001', /^PARAMETER_INVALID: invalid "limit"/],
    ['newSince=then', /^PARAMETER_INVALID: invalid "newSince" "then"/],
    ['onlyNew=1', /^PARAMETER_INVALID: invalid "onlyNew"/],
    ['onlyNew=true', /^PARAMETER_INVALID: "onlyNew" needs "newSince"/],
    ['src=b%20c/d', /^PARAMETER_INVALID/],
  ])('%j is refused', (query, refusal) => {
    expect(describeRefusal(() => parse(query))).toMatch(refusal);
  });
});

const SHARD = { kind: 'field', field: 'shard', operator: '=', value: '13' };

describe('a request for counts by value', () => {
  const parse = (query: string) => parseCount('logTop', new URLSearchParams(query), CLOCK);

  it.each([
    ['by=shard', { by: 'shard', limit: 10 }],
    ['by=a.b&limit=10000&value=1&value=2', { by: 'a.b', limit: 10_000, values: ['1', '2'] }],
    [
      'by=level&bucket=1m&buckets=5&query=shard%3D13',
      { by: 'level', limit: 10, bucketMs: 60_000, buckets: 5, query: SHARD },
    ],
  ])('%j', (query, expected) => {
    expect(parse(query)).toEqual(expected);
    expect(parseCount('logTop', new URLSearchParams(`${query}&role=broker`), CLOCK)).toEqual({
      ...expected,
      role: 'broker',
    });
  });

  it.each([
    ['', /^PARAMETER_INVALID: "by" is missing: give the name of the field to count by$/],
    ['by=a&limit=10001', /^PARAMETER_INVALID: .* from 1 to 10000$/],
    ['by=a&query=shard%3D', /^QUERY_INVALID: invalid query at character 7: /],
    [`by=a${'&value=x'.repeat(1001)}`, /^PARAMETER_INVALID: "value" is given 1001 times; at most 1000 are allowed$/],
  ])('%j is refused', (query, refusal) => {
    expect(describeRefusal(() => parse(query))).toMatch(refusal);
  });
});

describe('a request for an explanation', () => {
  const parse = (query: string) => parseExplainRequest(new URLSearchParams(query));

  it('has a query, which may be empty', () => {
    expect(parse('query=shard%3D13')).toEqual(SHARD);
    expect(parse('')).toBeUndefined();
    expect(describeRefusal(() => parse('query=('))).toMatch(/^QUERY_INVALID: /);
  });
});
