import { describe, expect, it } from 'vitest';
import { CLOCK, describeRefusal } from '../testing/describe-refusal.ts';
import { parseFollowRequest, parseRecordFilter } from './record-requests.ts';

const filter = (query: string) => parseRecordFilter(new URLSearchParams(query), { clock: CLOCK });
const selection = (query: string) => {
  const { start: _start, ...rest } = parseFollowRequest(new URLSearchParams(query), CLOCK);
  return rest;
};

describe('a selection', () => {
  it.each([
    ['', {}],
    ['src=', {}],
    ['src==a.log', { src: ['=a.log'] }],
    ['src=a.log&src=&src=/b/c.log', { src: ['a.log', '/b/c.log'] }],
    ['src==..%2Fx', { src: ['=../x'] }], // what is safe is decided where the directory is
  ])('%j', (query, expected) => {
    expect(selection(query)).toEqual(expected);
  });

  it.each([
    ['src=b%20c/d', /^PARAMETER_INVALID: invalid "src" "b c\/d": expected FAMILY, =FILE, NODE\/FAMILY or NODE\/=FILE/],
    ['src=a/', /^LOG_FAMILY_NOT_FOUND/],
    ['src==', /^FILE_NAME_MISSING/],
    [`${'src=a&'.repeat(65)}`, /^PARAMETER_INVALID: "src" is given 65 times/],
  ])('%j is refused', (query, refusal) => {
    expect(describeRefusal(() => selection(query))).toMatch(refusal);
  });
});

describe('a filter', () => {
  it.each([
    ['', {}],
    ['q=&not=&regex=&source=&component=&level=&case=&from=&to=', {}],
    ['from=15m&to=now', { fromMs: CLOCK.nowMs - 900_000, toMs: CLOCK.nowMs }],
    ['from=@0.001&to=@0.002', { fromMs: 1, toMs: 2 }],
    ['to=2026-11-15', { toMs: Date.UTC(2026, 10, 14, 22) }],
    ['level=warn', { minLevel: 'WARN' }],
    ['level=WARNING', { minLevel: 'WARN' }],
    ['level=Err', { minLevel: 'ERROR' }],
    ['level=fatal', { minLevel: 'FATAL' }],
    ['q=a&q=b%20c&q=&not=d', { terms: ['a', 'b c'], excluded: ['d'] }],
    ['q=a&q=a', { terms: ['a', 'a'] }],
    ['q=%20', { terms: [' '] }],
    ['q=%00%0A', { terms: ['\0\n'] }],
    ['q=%FF', { terms: ['�'] }],
    ['case=sensitive', { caseSensitive: true }],
    ['case=insensitive', {}],
    ['regex=a%2Bb%5B', { regex: 'a+b[' }], // whether it is a good one is for the engine to say
    ['source=main.go:12&component=Node', { source: 'main.go:12', component: 'Node' }],
    ['target=x&path=y&constructor=z', {}],
  ])('%j', (query, expected) => {
    expect(filter(query)).toEqual(expected);
  });

  it.each([
    [
      'from=@2&to=@1',
      /^PARAMETER_INVALID: "from" \(1970-01-01T00:00:02.000Z\) must be before "to" \(1970-01-01T00:00:01.000Z\)/,
    ],
    ['from=@5&to=@5', /^PARAMETER_INVALID: "from"/],
    ['from=now&to=1h', /^PARAMETER_INVALID: "from"/],
    ['from=soon', /^PARAMETER_INVALID: invalid "from" "soon"/],
    ['to=soon', /^PARAMETER_INVALID: invalid "to" "soon"/],
    ['level=loud', /^PARAMETER_INVALID: invalid "level" "loud": expected trace, debug, info, warn, error or fatal/],
    ['level=__proto__', /^PARAMETER_INVALID: invalid "level"/],
    ['level=constructor', /^PARAMETER_INVALID: invalid "level"/],
    ['case=on', /^PARAMETER_INVALID: invalid "case" "on": expected sensitive or insensitive/],
    ['from=@1&from=@1', /^BAD_REQUEST/],
    ['regex=a&regex=b', /^BAD_REQUEST/],
    ['level=info&level=warn', /^BAD_REQUEST/],
    [`level=${'x'.repeat(5000)}%0A`, /^PARAMETER_INVALID: invalid "level" "x{60}"\.\.\.:/],
    ['level=%0A%1B%5B31m', /^PARAMETER_INVALID: invalid "level" "\\n\\u001b\[31m"/],
  ])('%j is refused', (query, refusal) => {
    expect(describeRefusal(() => filter(query))).toMatch(refusal);
  });

  it('takes 32 terms of 1024 bytes, exclusions included, and no more', () => {
    const terms = (count: number) => Array.from({ length: count }, (_, index) => `q=${index}`).join('&');
    expect(filter(`${terms(30)}&not=a&not=b`).terms).toHaveLength(30);
    expect(describeRefusal(() => filter(`${terms(31)}&not=a&not=b`))).toMatch(
      /^PARAMETER_INVALID: .* 33 times; at most 32/,
    );
    expect(filter(`q=${'é'.repeat(512)}`).terms?.[0]).toHaveLength(512);
    for (const name of ['q', 'not', 'source', 'component'])
      expect(describeRefusal(() => filter(`${name}=${'é'.repeat(513)}`))).toMatch(
        new RegExp(`^PARAMETER_INVALID: invalid "${name}" .* at most 1024 bytes`),
      );
  });

  it('takes a regex of 2048 bytes, and no longer one', () => {
    expect(filter(`regex=${'x'.repeat(2048)}`).regex).toHaveLength(2048);
    expect(describeRefusal(() => filter(`regex=${'x'.repeat(2049)}`))).toMatch(
      /^PARAMETER_INVALID: invalid "regex" .* 2048 bytes/,
    );
  });
});
