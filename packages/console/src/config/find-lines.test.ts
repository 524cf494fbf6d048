import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findInLines, stepMatch } from './find-lines.ts';

it('every place is found, in any case', () => {
  expect(findInLines(['Port = 1', '', 'x.port = "port"'], 'port').matches).toEqual([
    { line: 0, start: 0, end: 4 },
    { line: 2, start: 2, end: 6 },
    { line: 2, start: 10, end: 14 },
  ]);
});

it('places are those of the text itself, whatever letters are in front', () => {
  const line = 'İİ port';
  const [found] = findInLines([line], 'PORT').matches;
  expect(line.slice(found?.start, found?.end)).toBe('port');
});

it('nothing is nowhere, and too much is told', () => {
  expect(findInLines(['a-b/c'], '-b/').matches).toHaveLength(1);
  expect(findInLines(['a'], '')).toEqual({ matches: [], isMore: false });
  expect(findInLines(['aaa'], 'a', 2)).toMatchObject({ matches: [{}, {}], isMore: true });
});

it('any text that stands in a line is found there', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 1, unit: 'binary' }), fc.string(), (before, text, after) => {
      expect(findInLines([`${before}${text}${after}`], text).matches).not.toEqual([]);
    }),
  );
});

it('steps go around both ends', () => {
  expect([stepMatch(3, 2, 1), stepMatch(3, 0, -1), stepMatch(3, -1, 1), stepMatch(0, 0, 1)]).toEqual([0, 2, 0, -1]);
});
