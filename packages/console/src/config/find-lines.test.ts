import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutTokens, findInLines, lineSegments, stepMatch, TOML_START, tokenizeTomlLine } from './toml-text.ts';

it('finds every match, ignoring case', () => {
  expect(findInLines(['Port = 1', '', 'x.port = "port"'], 'port').matches).toEqual([
    { line: 0, start: 0, end: 4 },
    { line: 2, start: 2, end: 6 },
    { line: 2, start: 10, end: 14 },
  ]);
});

it('offsets are correct after characters that change length in lower case', () => {
  const line = 'İİ port';
  const [found] = findInLines([line], 'PORT').matches;
  expect(line.slice(found?.start, found?.end)).toBe('port');
});

it('an empty query has no matches, and too many are reported', () => {
  expect(findInLines(['a-b/c'], '-b/').matches).toHaveLength(1);
  expect(findInLines(['a'], '')).toEqual({ matches: [], isMore: false });
  expect(findInLines(['aaa'], 'a', 2)).toMatchObject({ matches: [{}, {}], isMore: true });
});

it('finds any text that a line contains', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 1, unit: 'binary' }), fc.string(), (before, text, after) => {
      expect(findInLines([`${before}${text}${after}`], text).matches).not.toEqual([]);
    }),
  );
});

it('steps wrap around both ends', () => {
  expect([stepMatch(3, 2, 1), stepMatch(3, 0, -1), stepMatch(3, -1, 1), stepMatch(0, 0, 1)]).toEqual([0, 2, 0, -1]);
});

const tokenizeLine = (line: string) => tokenizeTomlLine(line, TOML_START).tokens;

function formatSegments(line: string, text: string): string[] {
  return lineSegments(tokenizeLine(line), findInLines([line], text).matches).map(
    (one) => `${one.kind}${one.found === null ? '' : `#${one.found}`} ${one.text}`,
  );
}

it('plain text is one segment', () => {
  expect(formatSegments('a = [1, x]', '')).toEqual(['key a', 'plain  = [', 'number 1', 'plain , x]']);
});

it('matches are segments of their own, also across tokens', () => {
  expect(formatSegments('port = 8', 'ort = 8')).toEqual(['key p', 'key#0 ort', 'plain#0  = ', 'number#0 8']);
  expect(formatSegments('aa = 1', 'a')).toEqual(['key#0 a', 'key#1 a', 'plain  = ', 'number 1']);
});

it('a long line is truncated', () => {
  expect(cutTokens(tokenizeLine('key = "value"'), 8).map(({ text }) => text)).toEqual(['key', ' ', '=', ' ', '"v']);
});

it('segments always join to the line, and matched ones are the search text', () => {
  const word = fc.constantFrom('a', 'ab', '=', '"', '1', '******', ' ', '#');
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), word, (words, text) => {
      const line = words.join('');
      const { matches } = findInLines([line], text);
      const segments = lineSegments(tokenizeLine(line), matches);
      expect(segments.map((one) => one.text).join('')).toBe(line);
      for (const [index, { start, end }] of matches.entries()) {
        const found = segments.filter((one) => one.found === index).map((one) => one.text);
        expect(found.join('')).toBe(line.slice(start, end));
      }
    }),
  );
});
