import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findInLines, stepPlace } from './find-lines.ts';

it('every place is found, in any case', () => {
  expect(findInLines(['Port = 1', '', 'x.port = "port"'], 'port').places).toEqual([
    { line: 0, start: 0, end: 4 },
    { line: 2, start: 2, end: 6 },
    { line: 2, start: 10, end: 14 },
  ]);
});

it('places are those of the text itself, whatever letters are in front', () => {
  const line = 'İİ port';
  const [found] = findInLines([line], 'PORT').places;
  expect(line.slice(found?.start, found?.end)).toBe('port');
});

it('nothing is nowhere, and too much is told', () => {
  expect(findInLines(['a-b/c'], '-b/').places).toHaveLength(1);
  expect(findInLines(['a'], '')).toEqual({ places: [], isMore: false });
  expect(findInLines(['aaa'], 'a', 2)).toMatchObject({ places: [{}, {}], isMore: true });
});

it('any text that stands in a line is found there', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 1, unit: 'binary' }), fc.string(), (before, text, after) => {
      expect(findInLines([`${before}${text}${after}`], text).places).not.toEqual([]);
    }),
  );
});

it('steps go around both ends', () => {
  expect([stepPlace(3, 2, 1), stepPlace(3, 0, -1), stepPlace(3, -1, 1), stepPlace(0, 0, 1)]).toEqual([0, 2, 0, -1]);
});
