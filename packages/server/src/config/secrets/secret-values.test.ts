import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TextRange } from '../formats/config-document.ts';
import { joinRanges } from './mask-ranges.ts';
import { NeedleFinder } from './secret-values.ts';

it('finds what a search for each needle finds', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 5 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 40 });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), text, (needles, searched) => {
      expect(joinRanges(new NeedleFinder(needles).find(searched))).toEqual(joinRanges(findEach(needles, searched)));
    }),
  );
});

it('takes the longest needle that is accepted', () => {
  const finder = new NeedleFinder(['abc', 'bc', 'c']);
  expect(finder.find('abc')).toEqual([{ start: 0, end: 3 }]);
  expect(finder.find('abc', ({ start }) => start > 1)).toEqual([{ start: 2, end: 3 }]);
});

it('finds nothing with no needles or an empty one', () => {
  expect(new NeedleFinder([]).find('abc')).toEqual([]);
  expect(new NeedleFinder(['']).find('abc')).toEqual([]);
});

function findEach(needles: readonly string[], text: string): TextRange[] {
  return needles.flatMap((needle) =>
    [...text].flatMap((_, start) => (text.startsWith(needle, start) ? [{ start, end: start + needle.length }] : [])),
  );
}
