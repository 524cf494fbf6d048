import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findInLines } from './find-lines.ts';
import { cutTokens, lineSegments } from './line-segments.ts';
import { TOML_START, tokenizeTomlLine } from './toml-tokens.ts';

const tokenizeLine = (line: string) => tokenizeTomlLine(line, TOML_START).tokens;

function formatSegments(line: string, text: string): string[] {
  return lineSegments(tokenizeLine(line), findInLines([line], text).matches).map(
    (one) => `${one.kind}${one.found === null ? '' : `#${one.found}`} ${one.text}`,
  );
}

it('what needs no colour is in one piece', () => {
  expect(formatSegments('a = [1, x]', '')).toEqual(['key a', 'plain  = [', 'number 1', 'plain , x]']);
});

it('what was found is cut out, also across parts', () => {
  expect(formatSegments('port = 8', 'ort = 8')).toEqual(['key p', 'key#0 ort', 'plain#0  = ', 'number#0 8']);
  expect(formatSegments('aa = 1', 'a')).toEqual(['key#0 a', 'key#1 a', 'plain  = ', 'number 1']);
});

it('a long line is cut to its beginning', () => {
  expect(cutTokens(tokenizeLine('key = "value"'), 8).map(({ text }) => text)).toEqual(['key', ' ', '=', ' ', '"v']);
});

it('whatever is looked for, the pieces are the line, and those found are what was looked for', () => {
  const word = fc.constantFrom('a', 'ab', '=', '"', '1', '******', ' ', '#');
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), word, (words, text) => {
      const line = words.join('');
      const { matches: places } = findInLines([line], text);
      const segments = lineSegments(tokenizeLine(line), places);
      expect(segments.map((one) => one.text).join('')).toBe(line);
      for (const [index, { start, end }] of places.entries()) {
        const found = segments.filter((one) => one.found === index).map((one) => one.text);
        expect(found.join('')).toBe(line.slice(start, end));
      }
    }),
  );
});
