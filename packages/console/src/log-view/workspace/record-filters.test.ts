import { describe, expect, it } from 'vitest';
import { withFind, withLevel } from './finder.ts';

const word = { text: 'a.b', isRegex: false, isCaseSensitive: false };

describe('a filter with a search text', () => {
  it.each([
    ['a word', {}, word, { terms: ['a.b'], caseSensitive: false }],
    ['a word beside another', { terms: ['x'] }, word, { terms: ['x', 'a.b'], caseSensitive: false }],
    ['a regex', {}, { ...word, isRegex: true }, { regex: 'a.b', caseSensitive: false }],
    ['a word beside a regex', { regex: 'x' }, word, { regex: 'x', terms: ['a.b'], caseSensitive: false }],
    [
      'a word of another rule about case',
      { excluded: ['x'], caseSensitive: true },
      word,
      { excluded: ['x'], caseSensitive: true, regex: '(?i:a\\.b)' },
    ],
    [
      'a regex of another rule about case',
      { terms: ['x'] },
      { text: 'A|B', isRegex: true, isCaseSensitive: true },
      { terms: ['x'], regex: '(?-i:A|B)' },
    ],
    ['two regexes', { regex: 'x' }, { ...word, isRegex: true }, undefined],
  ])('%s', (_name, filter, query, expected) => {
    expect(withFind(filter, query)).toEqual(expected);
  });
});

describe('a filter with a minimum level', () => {
  it('never matches more', () => {
    expect(withLevel({}, 'WARN')).toEqual({ minLevel: 'WARN' });
    expect(withLevel({ minLevel: 'ERROR' }, 'WARN')).toEqual({ minLevel: 'ERROR' });
    expect(withLevel({ minLevel: 'INFO' }, 'WARN')).toEqual({ minLevel: 'WARN' });
  });
});
