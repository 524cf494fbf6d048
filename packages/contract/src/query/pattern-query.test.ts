import { describe, expect, it } from 'vitest';
import { formatQuery } from './format-query.ts';
import { patternQuery, shapeTexts } from './pattern-query.ts';

describe('the texts of a shape', () => {
  it.each([
    [
      '* Error *: storage *:* does not respond',
      '1 Error 2: storage 3:4 does not respond',
      ['does not respond', ': storage', 'Error'],
    ],
    ['storage * does not respond', 'storage 1 does  not respond', ['storage', 'respond', 'does']],
    ['say "hello there" to *', 'say "hello there" to 7', ['hello there', 'say']],
    ['* * *', '1 2 3', []],
  ])('%j', (shape, message, texts) => {
    expect(shapeTexts(shape, message)).toEqual(texts);
  });
});

describe('the query of a pattern', () => {
  const pattern = {
    level: 'WARN',
    source: null,
    shape: 'pool * is full',
    sample: { message: 'pool 7 is full' },
  } as const;
  it.each([
    [pattern, 'level=warn "is full" pool'],
    [{ ...pattern, level: null }, '"is full" pool'],
    [{ ...pattern, source: 'a.go:1', shape: null }, 'level=warn source=a.go:1'],
  ])('%#', (given, query) => {
    const node = patternQuery(given);
    expect(node && formatQuery(node)).toBe(query);
  });

  it('is none where messages have nothing in common', () => {
    expect(patternQuery({ ...pattern, shape: '* *' })).toBeUndefined();
  });
});
