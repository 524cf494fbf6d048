import { familySource, fileSource } from '@porthole/logs/query';
import type { Level, RecordFilter } from '@porthole/logs/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLOCK, describeRefusal } from '../testing/describe-refusal.ts';
import { randomQuery } from '../testing/random-query.ts';
import {
  encodeCount,
  encodeFile,
  encodeFollow,
  encodeSearch,
  encodeView,
  parseCount,
  parseFileRequest,
  parseFollowRequest,
  parseSearchRequest,
  parseViewRequest,
} from './record-requests.ts';

const LEVELS: readonly Level[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const cursor = fc.stringMatching(/^[\w.~-]{1,60}$/);
const timeMs = fc.integer({ min: -8.64e15, max: 8.64e15 });
const on = fc.constant(true as const);

const span = fc
  .tuple(timeMs, timeMs)
  .filter(([from, to]) => from < to)
  .map(([fromMs, toMs]) => ({ fromMs, toMs }));
const times = fc.oneof(
  fc.constant({}),
  timeMs.map((fromMs) => ({ fromMs })),
  timeMs.map((toMs) => ({ toMs })),
  span,
);
const fields = fc.uniqueArray(fc.stringMatching(/^[\w.@$-]{1,12}$/), { minLength: 1, maxLength: 8 });
const terms = fc.array(text, { minLength: 1, maxLength: 8 });
const optional = fc.record(
  {
    minLevel: fc.constantFrom(...LEVELS),
    terms,
    excluded: terms,
    caseSensitive: on,
    regex: text,
    source: text,
    component: text,
    query: randomQuery,
  },
  { requiredKeys: [] },
);
const filter: fc.Arbitrary<RecordFilter> = fc.tuple(times, optional).map(([a, b]) => ({ ...a, ...b }));
const selection = fc.oneof(
  fc.constant({}),
  fc.record({ src: fc.array(fc.oneof(text.map(familySource), text.map(fileSource)), { minLength: 1, maxLength: 3 }) }),
);

/** A request about records: which logs, which records, and its own fields. */
const recordRequest = <T>(own: fc.Arbitrary<T>) =>
  fc.tuple(selection, filter, own).map(([logs, wanted, rest]) => ({ ...logs, ...wanted, ...rest }));

const searchStart = fc.oneof(fc.record({ cursor }), fc.record({ record: cursor }), fc.record({ timeMs }));
const search = recordRequest(
  fc.record(
    {
      order: fc.constantFrom('newest' as const, 'oldest' as const),
      limit: fc.integer({ min: 1, max: 10_000 }),
      before: fc.integer({ min: 0, max: 100 }),
      after: fc.integer({ min: 0, max: 100 }),
      start: searchStart,
      until: cursor,
      raw: on,
      fields,
    },
    { requiredKeys: ['order', 'limit', 'before', 'after'] },
  ),
);
const followStart = fc.oneof(
  fc.constant('end' as const),
  fc.record({ back: fc.integer({ min: 0, max: 10_000 }) }),
  fc.record({ timeMs }),
  fc.record({ cursor, sinceMs: timeMs }, { requiredKeys: ['cursor'] }),
);
const follow = recordRequest(fc.record({ start: followStart, raw: on, fields }, { requiredKeys: ['start'] }));
const histogram = recordRequest(
  fc.record(
    { bucketMs: fc.integer({ min: 1, max: 1e12 }), buckets: fc.integer({ min: 1, max: 1000 }) },
    { requiredKeys: ['buckets'] },
  ),
);
const digest = fc.oneof(
  recordRequest(fc.record({ limit: fc.integer({ min: 1, max: 1000 }) })),
  recordRequest(
    fc.record(
      { limit: fc.integer({ min: 1, max: 1000 }), newSinceMs: timeMs, onlyNew: on },
      { requiredKeys: ['limit', 'newSinceMs'] },
    ),
  ),
);

const listed = recordRequest(fc.record({ limit: fc.integer({ min: 1, max: 1000 }) }));
const top = recordRequest(
  fc.record(
    {
      by: text,
      limit: fc.integer({ min: 1, max: 10_000 }),
      values: terms,
      bucketMs: fc.integer({ min: 1, max: 1e12 }),
      buckets: fc.integer({ min: 1, max: 1000 }),
    },
    { requiredKeys: ['by', 'limit'] },
  ),
);

/** As it comes out of a URL at the other end. */
const sent = (query: URLSearchParams) => new URL(`http://node/?${query}`).searchParams;

describe('a request that is written into a URL is read as the same request', () => {
  it('search', () => {
    fc.assert(
      fc.property(search, (query) => {
        expect(parseSearchRequest(sent(encodeSearch(query)), CLOCK, { maxRecords: 10_000 })).toEqual(query);
      }),
    );
  });

  it('follow', () => {
    fc.assert(
      fc.property(follow, (query) => {
        expect(parseFollowRequest(sent(encodeFollow(query)), CLOCK)).toEqual(query);
      }),
    );
  });

  it('histogram', () => {
    fc.assert(
      fc.property(histogram, (query) => {
        expect(parseCount('logHistogram', sent(encodeCount('logHistogram', query)), CLOCK)).toEqual(query);
      }),
    );
  });

  it('digest', () => {
    fc.assert(
      fc.property(digest, (query) => {
        expect(parseCount('logDigest', sent(encodeCount('logDigest', query)), CLOCK)).toEqual(query);
      }),
    );
  });

  it('fields and counts by value', () => {
    fc.assert(
      fc.property(listed, top, (fieldsQuery, topQuery) => {
        expect(parseCount('logFields', sent(encodeCount('logFields', fieldsQuery)), CLOCK)).toEqual(fieldsQuery);
        expect(parseCount('logTop', sent(encodeCount('logTop', topQuery)), CLOCK)).toEqual(topQuery);
      }),
    );
  });

  it('a query as text', () => {
    const encoded = encodeCount('logHistogram', { buckets: 1, query: 'level >= warn (a OR b)' });
    expect(encoded.get('query')).toBe('level >= warn (a OR b)');
    expect(encodeCount('logHistogram', { buckets: 1, query: '' }).has('query')).toBe(false);
  });

  it('view and file', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (file, sizeBytes) => {
        expect(parseViewRequest(sent(encodeView({ file, sizeBytes })))).toEqual({ file, sizeBytes });
        expect(parseFileRequest(sent(encodeFile({ file })))).toEqual({ file });
      }),
    );
  });
});

describe('what would be another request in a URL is refused', () => {
  const query = { order: 'newest', limit: 1, before: 0, after: 0 } as const;

  it.each([
    ['an empty file name', () => encodeFile({ file: '' }), 'FILE_NAME_MISSING'],
    ['an empty file name', () => encodeView({ file: '', sizeBytes: 1 }), 'FILE_NAME_MISSING'],
    ['an empty file name', () => encodeCount('logDigest', { src: ['='], limit: 1 }), 'FILE_NAME_MISSING'],
    ['an empty family', () => encodeCount('logHistogram', { src: [''], buckets: 1 }), 'LOG_FAMILY_NOT_FOUND'],
    ['an empty cursor', () => encodeFollow({ start: { cursor: '' } }), 'CURSOR_INVALID'],
    ['an empty cursor', () => encodeSearch({ ...query, start: { cursor: '' } }), 'CURSOR_INVALID'],
    ['an empty cursor', () => encodeSearch({ ...query, start: { record: '' } }), 'CURSOR_INVALID'],
    ['an empty cursor', () => encodeSearch({ ...query, until: '' }), 'CURSOR_INVALID'],
  ])('%s', (_name, encode, code) => {
    expect(describeRefusal(encode)).toMatch(new RegExp(`^${code}: `));
  });

  it('a part of a millisecond is the next whole one', () => {
    expect(encodeCount('logDigest', { limit: 1, fromMs: 1.2, newSinceMs: -1.2 }).toString()).toBe(
      'from=%400.002&limit=1&newSince=%40-0.001',
    );
  });
});
