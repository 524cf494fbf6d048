import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fieldNamesProblem,
  formatFieldNames,
  MAX_FIELD_NAMES,
  moveName,
  parseFieldNames,
  toggleName,
} from './view-url.ts';

describe('names of fields in a URL', () => {
  it.each([
    ['shard,http.status', ['shard', 'http.status']],
    ['a\\,b,c\\\\', ['a,b', 'c\\']],
    ['a\\b', ['a\\b']],
    [',a,,a,', ['a']],
    ['😀,x\\', ['😀', 'x\\']],
    ['', []],
  ])('%j', (text, names) => {
    expect(parseFieldNames(text)).toEqual(names);
  });

  it('any names are read as written', () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 100 }), { maxLength: MAX_FIELD_NAMES });
    fc.assert(
      fc.property(names, (list) => {
        expect(parseFieldNames(formatFieldNames(list))).toEqual(list);
      }),
      { numRuns: 200 },
    );
  });

  it('what is ignored is a problem', () => {
    const many = Array.from({ length: MAX_FIELD_NAMES + 1 }, (_, index) => `f${index}`).join();
    expect(parseFieldNames(many)).toHaveLength(MAX_FIELD_NAMES);
    for (const text of ['', 'a,a', 'a,', many, 'x'.repeat(257)])
      expect(fieldNamesProblem(text)).toBe('expected at most 12 different names of fields, separated by commas');
    expect(fieldNamesProblem('a,b\\c')).toBeNull();
  });

  it('are added, removed and moved', () => {
    expect(toggleName(['a', 'b'], 'c')).toEqual(['a', 'b', 'c']);
    expect(toggleName(['a', 'b'], 'a')).toEqual(['b']);
    expect(moveName(['a', 'b', 'c'], 'c', -1)).toEqual(['a', 'c', 'b']);
    expect(moveName(['a', 'b'], 'b', 1)).toEqual(['a', 'b']);
    expect(moveName(['a', 'b'], 'x', 1)).toEqual(['a', 'b']);
  });
});
