import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../errors/errors.ts';
import { DEFAULT_VIEW_BYTES } from '../params/log-parameters.ts';
import { parseFileRequest, parseViewRequest } from './record-requests.ts';

function parse(query: string) {
  return parseViewRequest(new URLSearchParams(query));
}

function describeRefusal(query: string): string {
  try {
    parse(query);
  } catch (error) {
    return codeOf(error);
  }
  return 'accepted';
}

describe('a view request', () => {
  it.each([
    ['file=a', { file: 'a', sizeBytes: DEFAULT_VIEW_BYTES }],
    ['file=a&size=', { file: 'a', sizeBytes: 1_048_576 }],
    ['file=a&size=1', { file: 'a', sizeBytes: 1 }],
    ['file=a&size=007', { file: 'a', sizeBytes: 7 }],
    ['file=a&size=99999999999999999999', { file: 'a', sizeBytes: Number.MAX_SAFE_INTEGER }],
    [`file=a&size=${'9'.repeat(999)}`, { file: 'a', sizeBytes: Number.MAX_SAFE_INTEGER }],
    ['size=5&file=a%2Fb&target=x', { file: 'a/b', sizeBytes: 5 }],
  ])('%s', (query, request) => {
    expect(parse(query)).toEqual(request);
  });

  it.each([
    ['', 'FILE_NAME_MISSING'],
    ['file=', 'FILE_NAME_MISSING'],
    ['size=1', 'FILE_NAME_MISSING'],
    ['file=a&size=0', 'SIZE_INVALID'],
    ['file=a&size=-1', 'SIZE_INVALID'],
    ['file=a&size=1.5', 'SIZE_INVALID'],
    ['file=a&size=1e3', 'SIZE_INVALID'],
    ['file=a&size=%2B5', 'SIZE_INVALID'],
    ['file=a&size=+5', 'SIZE_INVALID'],
    ['file=a&size=5%0A', 'SIZE_INVALID'],
    ['file=a&file=b', 'BAD_REQUEST'],
    ['file=a&size=1&size=1', 'BAD_REQUEST'],
  ])('%j is refused: %s', (query, code) => {
    expect(describeRefusal(query)).toBe(code);
  });

  it('has a positive safe size whatever was given, or is refused', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[0-9+-. e]{0,30}$/), fc.bigInt().map(String));
    fc.assert(
      fc.property(text, (size) => {
        const query = new URLSearchParams({ file: 'a', size });
        try {
          const { sizeBytes } = parseViewRequest(query);
          return Number.isSafeInteger(sizeBytes) && sizeBytes > 0 && (size === '' || /^[0-9]+$/.test(size));
        } catch (error) {
          return codeOf(error) === 'SIZE_INVALID' && !/^[0-9]*[1-9][0-9]*$/.test(size);
        }
      }),
      { numRuns: runs(2500) },
    );
  });
});

describe('a file request', () => {
  it('takes the name as it is: what is safe is decided where the directory is', () => {
    expect(parseFileRequest(new URLSearchParams('file=..%2Fx'))).toEqual({ file: '../x' });
  });
});
